// SPDX-License-Identifier: BSD-3-Clause
#include "plan/layout.h"

#include <gtest/gtest.h>

namespace hps {
namespace {

Layout::Node node(std::vector<Layout::Switch> switches) { return {std::move(switches)}; }

TEST(LayoutFromNodes, OrdersNodesByLowestMember) {
  const Layout layout = layout_from_nodes({7, 3, 7, 3, 4000000000u});
  const Layout expected{{node({{{0, 2}}}), node({{{1, 3}}}), node({{{4}}})}};
  EXPECT_EQ(layout, expected);
  EXPECT_TRUE(is_valid(layout, 5));
}

TEST(LayoutFromNodes, NoMembersNoNodes) {
  EXPECT_TRUE(layout_from_nodes({}).nodes.empty());
  EXPECT_TRUE(is_valid(layout_from_nodes({}), 0));
}

TEST(PlaceOf, NamesTheNodeItsMembersAndAllLeaders) {
  const Layout layout{{node({{{0, 4}}, {{1, 2}}}), node({{{3}}}), node({{{5, 6}}})}};
  const std::vector<std::uint32_t> leaders = {0, 3, 5};
  const MemberPlace first = place_of(2, layout);
  EXPECT_EQ(first.node, 0u);
  EXPECT_EQ(first.node_members, (std::vector<std::uint32_t>{0, 4, 1, 2}));
  EXPECT_EQ(first.leaders, leaders);
  const MemberPlace last = place_of(6, layout);
  EXPECT_EQ(last.node, 2u);
  EXPECT_EQ(last.node_members, (std::vector<std::uint32_t>{5, 6}));
  EXPECT_EQ(last.leaders, leaders);
}

TEST(IsValid, SeveralSwitches) { EXPECT_TRUE(is_valid({{node({{{0, 4}}, {{1, 2}}}), node({{{3}}})}}, 5)); }

TEST(IsValid, RefusesWhatIsEmpty) {
  EXPECT_FALSE(is_valid({{node({{{0}}}), node({})}}, 1));
  EXPECT_FALSE(is_valid({{node({{{0}}, {{}}})}}, 1));
}

TEST(IsValid, RefusesWrongMembers) {
  EXPECT_FALSE(is_valid({{node({{{0, 1}}})}}, 3)) << "one is missing";
  EXPECT_FALSE(is_valid({{node({{{0, 1}}})}}, 1)) << "one too many";
  EXPECT_FALSE(is_valid({{node({{{0, 2}}})}}, 2)) << "2 is no member";
  EXPECT_FALSE(is_valid({{node({{{0, 2}}}), node({{{1, 2}}})}}, 4)) << "2 twice, 3 missing";
}

TEST(IsValid, RefusesWrongOrder) {
  EXPECT_FALSE(is_valid({{node({{{1, 0}}})}}, 2)) << "members";
  EXPECT_FALSE(is_valid({{node({{{0, 0}}})}}, 2)) << "members twice";
  EXPECT_FALSE(is_valid({{node({{{1}}, {{0}}})}}, 2)) << "switches";
  EXPECT_FALSE(is_valid({{node({{{1}}}), node({{{0}}})}}, 2)) << "nodes";
}

}  // namespace
}  // namespace hps
