// SPDX-License-Identifier: BSD-3-Clause
#include "engine/stall_timer.h"

#include <gtest/gtest.h>

namespace hps::test {
namespace {

TEST(StallTimerTest, CountsFromTheFirstLookAndNotFromTheClocksBeginning) {
  StallTimer timer;
  EXPECT_EQ(timer.still_ns(0, 1000), 0);
  EXPECT_EQ(timer.since_ns(), 1000);
  EXPECT_EQ(timer.still_ns(0, 1300), 300);
}

TEST(StallTimerTest, EveryMoveBeginsTheTimeAnew) {
  StallTimer timer;
  static_cast<void>(timer.still_ns(4, 1000));
  EXPECT_EQ(timer.still_ns(5, 1300), 0);
  EXPECT_EQ(timer.still_ns(5, 1400), 100);
  EXPECT_EQ(timer.still_ns(4, 1500), 0);  // any change is a move
  EXPECT_EQ(timer.since_ns(), 1500);
}

TEST(IntervalTest, IsDueAtOnceAndThenOnceAnInterval) {
  Interval interval;
  EXPECT_TRUE(interval.is_due(1000, 100));
  EXPECT_EQ(interval.next_ns(), 1100);
  EXPECT_FALSE(interval.is_due(1000, 100));
  EXPECT_FALSE(interval.is_due(1099, 100));
  EXPECT_TRUE(interval.is_due(1100, 100));
  EXPECT_FALSE(interval.is_due(1199, 100));
}

TEST(IntervalTest, MakesUpForNoneThatWasMissed) {
  Interval interval;
  EXPECT_TRUE(interval.is_due(1000, 100));
  EXPECT_TRUE(interval.is_due(5000, 100));
  EXPECT_FALSE(interval.is_due(5001, 100));
}

TEST(IntervalTest, ThatNeverComesRoundIsNeverDue) {
  Interval interval;
  EXPECT_FALSE(interval.is_due(1000, never_ns));
  interval.start(1000, never_ns);
  EXPECT_FALSE(interval.is_due(2000, never_ns));
  EXPECT_EQ(interval.next_ns(), never_ns);
}

TEST(IntervalTest, StartedIsDueOnlyAfterAnInterval) {
  Interval interval;
  interval.start(1000, 100);
  EXPECT_FALSE(interval.is_due(1099, 100));
  interval.start(1099, 100);  // it runs already
  EXPECT_TRUE(interval.is_due(1100, 100));
}

TEST(IntervalTest, StoppedBeginsAnewWhenItIsStarted) {
  Interval interval;
  interval.start(1000, 100);
  interval.stop();
  interval.start(1090, 100);
  EXPECT_FALSE(interval.is_due(1100, 100));
  EXPECT_TRUE(interval.is_due(1190, 100));
}

}  // namespace
}  // namespace hps::test
