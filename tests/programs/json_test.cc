// SPDX-License-Identifier: BSD-3-Clause
#include "common/json.h"

#include <gtest/gtest.h>

#include <limits>

namespace hps {
namespace {

TEST(JsonTest, StringsAreEscaped) {
  EXPECT_EQ(json_string("plain \xc3\xa9"), "\"plain \xc3\xa9\"");
  EXPECT_EQ(json_string("a\"b\\c\n\x01"), R"("a\"b\\c\u000a\u0001")");
}

TEST(JsonTest, NumbersHaveTheDecimalsAskedFor) {
  EXPECT_EQ(json_number(2.0 / 3, 3), "0.667");
  EXPECT_EQ(json_number(-7, 0), "-7");
  EXPECT_EQ(json_number(1e300, 2).size(), 304u);
}

TEST(JsonTest, WhatIsNoNumberIsNull) {
  EXPECT_EQ(json_number(std::nullopt, 3), "null");
  EXPECT_EQ(json_number(std::numeric_limits<double>::infinity(), 3), "null");
  EXPECT_EQ(json_number(std::numeric_limits<double>::quiet_NaN(), 3), "null");
}

TEST(JsonTest, AnObjectKeepsTheOrderOfItsMembers) {
  EXPECT_EQ(JsonObject().text(), "{}");
  EXPECT_EQ(JsonObject().add("n", "8").add("a \"name\"", json_string("x")).text(), R"({"n": 8, "a \"name\"": "x"})");
}

}  // namespace
}  // namespace hps
