// SPDX-License-Identifier: BSD-3-Clause
#include "wire/group_spec.h"

#include <gtest/gtest.h>

namespace hps::wire {
namespace {

GroupSpec example() {
  GroupSpec spec;
  spec.id = {5, 77};
  spec.members = {5, 3, 9, 1};
  spec.layout = layout_from_nodes({0, 0, 1, 2});
  std::vector<PlanNode> nodes = {{false, 1e9, {5, 3}}, {false, 2e9, {9}}, {false, 1e9, {1}}, {true, 3e9, {12, 13}}};
  EXPECT_TRUE(make_plan(nodes, {}, &spec.plan).ok());
  return spec;
}

TEST(GroupSpecTest, ComesBackAsItWas) {
  const GroupSpec spec = example();
  GroupSpec decoded;
  ASSERT_TRUE(decode(encode(spec), &decoded).ok());
  EXPECT_EQ(decoded.id, spec.id);
  EXPECT_EQ(decoded.members, spec.members);
  EXPECT_EQ(decoded.layout, spec.layout);
  EXPECT_EQ(decoded.plan, spec.plan);
  for (std::uint64_t chunk = 0; chunk < 1000; ++chunk)
    EXPECT_EQ(decoded.plan.owner_of(chunk), spec.plan.owner_of(chunk));
}

TEST(GroupSpecTest, RejectsEveryTruncation) {
  const std::vector<std::byte> bytes = encode(example());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    GroupSpec decoded;
    EXPECT_EQ(decode(ConstBytes(bytes).first(length), &decoded).code(), Code::protocol) << length;
    EXPECT_TRUE(decoded.members.empty());
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back({});
  GroupSpec decoded;
  EXPECT_FALSE(decode(longer, &decoded).ok());
}

TEST(GroupSpecTest, RejectsWhatContradictsItself) {
  const auto is_rejected = [](const GroupSpec& spec) {
    GroupSpec decoded;
    return decode(encode(spec), &decoded).code() == Code::protocol;
  };
  GroupSpec nobody = example();
  nobody.members.clear();
  nobody.layout.nodes.clear();
  EXPECT_TRUE(is_rejected(nobody));
  GroupSpec twice = example();
  twice.members[3] = twice.members[0];
  EXPECT_TRUE(is_rejected(twice));
  GroupSpec no_rank = example();
  no_rank.members[2] = -1;
  EXPECT_TRUE(is_rejected(no_rank));
  GroupSpec other_nodes = example();
  other_nodes.layout = layout_from_nodes({0, 0, 1, 1});
  EXPECT_TRUE(is_rejected(other_nodes));
}

// Whatever a changed byte makes of it, it is rejected or consistent: it never crashes what uses it.
TEST(GroupSpecTest, SurvivesEveryChangedByte) {
  const std::vector<std::byte> bytes = encode(example());
  std::size_t rejected = 0;
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    for (unsigned flip : {0x01u, 0x80u, 0xffu}) {
      std::vector<std::byte> changed = bytes;
      changed[place] ^= static_cast<std::byte>(flip);
      GroupSpec decoded;
      if (!decode(changed, &decoded).ok()) {
        ++rejected;
        continue;
      }
      EXPECT_TRUE(is_valid(decoded.layout, static_cast<std::uint32_t>(decoded.members.size())));
      EXPECT_LT(decoded.plan.owner_of(12345), decoded.plan.owners.size());
      EXPECT_GT(decoded.plan.chunking(1000, 8).elements_per_chunk, 0u);
    }
  }
  EXPECT_GT(rejected, bytes.size() / 2);
}

TEST(HashTest, IsFnv1a) {
  EXPECT_EQ(hash({}), 0xcbf29ce484222325u);
  const std::byte a{'a'};
  EXPECT_EQ(hash({&a, 1}), 0xaf63dc4c8601ec8cu);
}

}  // namespace
}  // namespace hps::wire
