// SPDX-License-Identifier: BSD-3-Clause
#include "util/handle_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

namespace hps {
namespace {

TEST(HandleTableTest, FindsWhatWasAdded) {
  HandleTable<std::string> table;
  const std::uint32_t a = table.add("a");
  const std::uint32_t b = table.add("b");
  EXPECT_NE(a, 0u);
  EXPECT_NE(b, 0u);
  EXPECT_NE(a, b);
  ASSERT_NE(table.find(a), nullptr);
  EXPECT_EQ(*table.find(a), "a");
  EXPECT_EQ(*table.find(b), "b");
}

TEST(HandleTableTest, FindsNothingElse) {
  HandleTable<int> table;
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.find(UINT32_MAX), nullptr);
  const std::uint32_t handle = table.add(1);
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.find(handle + 1), nullptr) << "another place";
  EXPECT_EQ(table.find(handle + (1u << 20)), nullptr) << "another use of the place";
}

TEST(HandleTableTest, KnowsWhatItHasGivenOut) {
  HandleTable<int> table;
  const std::uint32_t first = table.add(1);
  EXPECT_TRUE(table.was_given_out(first));
  table.remove(first);
  EXPECT_TRUE(table.was_given_out(first)) << "it was";
  EXPECT_FALSE(table.was_given_out(first + (1u << 20))) << "not yet";
  const std::uint32_t second = table.add(2);
  EXPECT_TRUE(table.was_given_out(second));
  EXPECT_FALSE(table.was_given_out(second + (1u << 20)));
  EXPECT_FALSE(table.was_given_out(second + 1)) << "another place";
  for (std::uint32_t handle : {0u, 1u, UINT32_MAX}) EXPECT_FALSE(table.was_given_out(handle));
}

TEST(HandleTableTest, RemovedIsNotFoundAndNotKept) {
  HandleTable<std::shared_ptr<int>> table;
  auto value = std::make_shared<int>(5);
  const std::uint32_t handle = table.add(value);
  table.remove(handle);
  EXPECT_EQ(table.find(handle), nullptr);
  EXPECT_EQ(value.use_count(), 1);
}

TEST(HandleTableTest, RemovingTwiceHarmsNobody) {
  HandleTable<int> table;
  const std::uint32_t first = table.add(1);
  table.remove(first);
  table.remove(first);
  const std::uint32_t second = table.add(2);
  table.remove(first);
  const std::uint32_t third = table.add(3);
  ASSERT_NE(table.find(second), nullptr);
  EXPECT_EQ(*table.find(second), 2);
  EXPECT_EQ(*table.find(third), 3);
}

// A message that comes late names a handle of long ago.
TEST(HandleTableTest, HandleComesAgainAfter4095UsesOfItsPlace) {
  HandleTable<int> table;
  const std::uint32_t first = table.add(0);
  std::set<std::uint32_t> seen = {first};
  std::uint32_t handle = first;
  for (int use = 1; use < 4095; ++use) {
    table.remove(handle);
    handle = table.add(use);
    ASSERT_NE(handle, 0u);
    ASSERT_TRUE(seen.insert(handle).second) << "use " << use;
    ASSERT_EQ(table.find(first), nullptr);
  }
  table.remove(handle);
  EXPECT_EQ(table.add(4095), first);
}

TEST(HandleTableTest, FullTableSaysSo) {
  HandleTable<char> table;
  std::uint32_t handle = 0;
  for (std::uint32_t i = 0; i < table.max_entries; ++i) {
    handle = table.add('x');
    ASSERT_NE(handle, 0u);
  }
  EXPECT_EQ(table.add('y'), 0u);
  table.remove(handle);
  const std::uint32_t again = table.add('z');
  ASSERT_NE(again, 0u);
  EXPECT_EQ(*table.find(again), 'z');
}

TEST(HandleTableTest, HoldsWhatCannotBeCopied) {
  HandleTable<std::unique_ptr<int>> table;
  std::uint32_t first = table.add(std::make_unique<int>(1));
  for (int i = 0; i < 100; ++i) table.add(std::make_unique<int>(i));
  EXPECT_EQ(**table.find(first), 1);
}

}  // namespace
}  // namespace hps
