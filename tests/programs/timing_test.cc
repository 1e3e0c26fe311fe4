// SPDX-License-Identifier: BSD-3-Clause
#include "perf/timing.h"

#include <gtest/gtest.h>

namespace hps::perf {
namespace {

TEST(TimingTest, MedianOfOddAndEvenNumbersOfTimes) {
  const Timing odd = summarize({5, 1, 100});
  EXPECT_EQ(odd.median_us, 5);
  EXPECT_EQ(odd.min_us, 1);
  EXPECT_EQ(odd.max_us, 100);
  EXPECT_EQ(summarize({4, 1, 100, 2}).median_us, 3);
  EXPECT_EQ(summarize({7}).median_us, 7);
}

}  // namespace
}  // namespace hps::perf
