// SPDX-License-Identifier: BSD-3-Clause
#include "util/counters.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace hps {
namespace {

TEST(CountersTest, NothingCountedTellsNoRejection) {
  const Counters counters;
  EXPECT_EQ(counters.describe(),
            "0 messages, 0 joins, 0 refused, 0 pushes, 0 chunks, 0 calls, 0 mismatches, 0 revoked");
  EXPECT_EQ(counters.describe_unusual(), "");
  EXPECT_EQ(counters.rejected(), 0u);
}

TEST(CountersTest, WhatIsLateIsRejectedButUsual) {
  Counters counters;
  counters.reject(Rejection::late);
  EXPECT_EQ(counters.rejected(), 1u);
  EXPECT_EQ(counters.rejected_unusual(), 0u);
  EXPECT_EQ(counters.describe_unusual(), "");
  EXPECT_TRUE(counters.describe().ends_with(", 0 revoked, 1 late")) << counters.describe();
}

TEST(CountersTest, ReasonsAreToldInTheListsOrder) {
  Counters counters;
  counters.reject(Rejection::duplicate);
  EXPECT_EQ(counters.describe_unusual(), "1 message rejected: 1 duplicate");
  for (int i = 0; i < 3; ++i) counters.reject(Rejection::wrong_token);
  counters.reject(Rejection::late);
  counters.reject(Rejection::not_hps);
  EXPECT_EQ(counters.rejected(Rejection::wrong_token), 3u);
  EXPECT_EQ(counters.rejected_unusual(), 5u);
  EXPECT_EQ(counters.describe_unusual(), "5 messages rejected: 1 not hps, 3 wrong token, 1 duplicate");
}

TEST(CountersTest, EveryRowHasAMeaningAndANameOfItsOwn) {
  std::set<std::string> names;
  bool had_rejection = false;
  for (const CounterInfo& one : counter_list()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_FALSE(std::string(one.meaning).empty()) << one.name;
    EXPECT_FALSE(had_rejection && !one.is_rejection) << one.name << ": counters come before reasons";
    had_rejection |= one.is_rejection;
  }
  EXPECT_TRUE(had_rejection);
}

}  // namespace
}  // namespace hps
