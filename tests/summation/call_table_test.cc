// SPDX-License-Identifier: BSD-3-Clause
#include "summation/call_table.h"

#include <gtest/gtest.h>

namespace hps {
namespace {

using Numbers = std::vector<std::uint32_t>;

// Sequence numbers just before they wrap around, and from the first on.
class CallTableTest : public testing::TestWithParam<std::uint32_t> {
 protected:
  CallTableTest() { static_cast<void>(table_.end_through(number(0))); }
  // The i-th call, from 1.
  static std::uint32_t number(std::uint32_t i) { return GetParam() + i; }
  Numbers ended(std::uint32_t i) {
    Numbers numbers;
    for (const auto& call : table_.end_through(number(i))) numbers.push_back(call->sequence);
    return numbers;
  }

  CallTable table_{4};
  const Status why_{Code::mismatch, "rank 2: not that", 2};
};

TEST_P(CallTableTest, FindsCallsUntilTheyEnd) {
  EXPECT_EQ(table_.find(number(1)), nullptr);
  ServedCall* call = table_.add(number(1));
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->sequence, number(1));
  ASSERT_NE(table_.add(number(2)), nullptr);
  EXPECT_EQ(table_.find(number(1)), call);
  EXPECT_EQ(table_.sequences(), (Numbers{number(1), number(2)}));
  EXPECT_EQ(ended(1), Numbers{});
  EXPECT_EQ(table_.find(number(1)), nullptr);
  EXPECT_NE(table_.find(number(2)), nullptr);
}

TEST_P(CallTableTest, ACallThatEndsEndsAllBeforeItAndNoneAfter) {
  for (std::uint32_t i : {3u, 1u, 2u, 4u}) ASSERT_NE(table_.add(number(i)), nullptr);
  EXPECT_EQ(ended(3), (Numbers{number(1), number(2)}));
  EXPECT_EQ(table_.sequences(), Numbers{number(4)});
  for (std::uint32_t i : {1u, 2u, 3u}) EXPECT_TRUE(table_.is_over(number(i)));
  for (std::uint32_t i : {4u, 5u, 1000u}) EXPECT_FALSE(table_.is_over(number(i)));
}

TEST_P(CallTableTest, ACallThatEndedWithoutBeingHeardOfIsOver) {
  EXPECT_EQ(ended(9), Numbers{});
  EXPECT_TRUE(table_.is_over(number(5)));
  EXPECT_FALSE(table_.is_over(number(10)));
}

TEST_P(CallTableTest, TheFirstIsTheOldestUnderWay) {
  EXPECT_EQ(table_.first(), std::nullopt);
  for (std::uint32_t i : {3u, 2u, 4u}) ASSERT_NE(table_.add(number(i)), nullptr);
  EXPECT_EQ(table_.first(), number(2));
  static_cast<void>(ended(2));
  EXPECT_EQ(table_.first(), number(3));
}

TEST_P(CallTableTest, RemembersWhyACallFailedUntilItIsOver) {
  ASSERT_NE(table_.add(number(1)), nullptr);
  ASSERT_TRUE(table_.fail(number(1), why_));
  ASSERT_TRUE(table_.fail(number(2), why_));  // not heard of yet
  EXPECT_EQ(table_.find(number(1)), nullptr);
  EXPECT_EQ(table_.first(), std::nullopt);
  EXPECT_FALSE(table_.is_over(number(1)));
  for (std::uint32_t i : {1u, 2u}) {
    ASSERT_NE(table_.failure(number(i)), nullptr);
    EXPECT_EQ(table_.failure(number(i))->text(), why_.text());
  }
  EXPECT_EQ(table_.failure(number(3)), nullptr);
  static_cast<void>(ended(1));
  EXPECT_EQ(table_.failure(number(1)), nullptr);
  EXPECT_NE(table_.failure(number(2)), nullptr);
}

TEST_P(CallTableTest, HasPlaceForEveryMembersCallsAndNotForAnyNumber) {
  std::uint32_t added = 0;
  while (added < 1000 && table_.add(number(added + 1)) != nullptr) ++added;
  EXPECT_GE(added, 4u + 1u);
  EXPECT_LE(added, 100u);
  static_cast<void>(ended(1));
  EXPECT_NE(table_.add(number(added + 1)), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Numbers, CallTableTest, testing::Values(0u, 0x7ffffffdu, UINT32_MAX - 2));

}  // namespace
}  // namespace hps
