// SPDX-License-Identifier: BSD-3-Clause
#include "util/failed_calls.h"

#include <gtest/gtest.h>

namespace hps {
namespace {

Status because(const std::string& text) { return {Code::mismatch, text}; }

TEST(FailedCallsTest, RemembersTheFirstReasonOfEachCall) {
  FailedCalls failed;
  EXPECT_TRUE(failed.add(7, because("first")));
  EXPECT_TRUE(failed.add(7, because("second")));
  EXPECT_TRUE(failed.add(5, because("earlier")));
  ASSERT_NE(failed.find(7), nullptr);
  EXPECT_EQ(failed.find(7)->text(), "first");
  EXPECT_EQ(failed.find(5)->text(), "earlier");
  EXPECT_EQ(failed.find(6), nullptr);
}

TEST(FailedCallsTest, ForgetsAcrossTheWrapAround) {
  FailedCalls failed;
  for (std::uint32_t sequence : {0xfffffffeu, 0xffffffffu, 0u, 1u}) EXPECT_TRUE(failed.add(sequence, because("x")));
  failed.forget_through(0);
  EXPECT_EQ(failed.find(0xffffffffu), nullptr);
  EXPECT_EQ(failed.find(0), nullptr);
  EXPECT_NE(failed.find(1), nullptr);
  failed.forget_through(1);
  EXPECT_TRUE(failed.empty());
}

// A rank that fails call after call while another computes.
TEST(FailedCallsTest, ALongRunIsRememberedWhole) {
  FailedCalls failed;
  const std::uint32_t start = 0xffffff00u;
  for (std::uint32_t i = 0; i < 100'000; ++i) ASSERT_TRUE(failed.add(start + i, because(std::to_string(i)))) << i;
  for (std::uint32_t i = 0; i < 100'000; ++i) ASSERT_NE(failed.find(start + i), nullptr) << i;
  failed.forget_through(start + 499);
  EXPECT_EQ(failed.find(start + 499), nullptr);
  EXPECT_NE(failed.find(start + 500), nullptr);
}

TEST(FailedCallsTest, WhatLiesApartFillsIt) {
  FailedCalls failed;
  for (std::uint32_t i = 0; i < FailedCalls::most_runs; ++i) EXPECT_TRUE(failed.add(2 * i, because("x")));
  EXPECT_FALSE(failed.add(5000, because("x")));
  EXPECT_EQ(failed.find(5000), nullptr);
  EXPECT_TRUE(failed.add(1, because("x"))) << "joins its neighbours";
  EXPECT_NE(failed.find(1), nullptr);
}

}  // namespace
}  // namespace hps
