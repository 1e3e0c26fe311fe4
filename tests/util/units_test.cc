// SPDX-License-Identifier: BSD-3-Clause
#include "util/units.h"

#include <gtest/gtest.h>

#include <utility>

namespace hps {
namespace {

TEST(UnitsTest, ParsesBytes) {
  const std::pair<const char*, std::uint64_t> cases[] = {
      {"0", 0},
      {"8", 8},
      {"1000", 1000},
      {"64K", 65536},
      {"64k", 65536},
      {"2M", 2u << 20},
      {"1g", 1u << 30},
      {"3T", std::uint64_t{3} << 40},
      {"007", 7},
      {"18446744073709551615", UINT64_MAX},
      {"16777215T", std::uint64_t{16777215} << 40},  // the most T that fit
  };
  for (const auto& [text, expected] : cases) {
    std::uint64_t bytes = 12345;
    EXPECT_TRUE(parse_bytes(text, &bytes)) << text;
    EXPECT_EQ(bytes, expected) << text;
  }
}

TEST(UnitsTest, RefusesOtherBytes) {
  for (const char* text : {"", "K", "-1", "+1", " 1", "1 ", "1 K", "1.5K", "1KB", "1KiB", "1P", "0x10", "1e3", "one",
                           "18446744073709551616", "16777216T", "99999999999999999999K"}) {
    std::uint64_t bytes = 12345;
    EXPECT_FALSE(parse_bytes(text, &bytes)) << "'" << text << "'";
    EXPECT_EQ(bytes, 12345u) << "'" << text << "'";
  }
}

// A text need not end where the string that it is part of ends.
TEST(UnitsTest, ReadsNoFurtherThanTheText) {
  const std::string_view text = "64K8mbit";
  std::uint64_t bytes = 0;
  EXPECT_TRUE(parse_bytes(text.substr(0, 2), &bytes));
  EXPECT_EQ(bytes, 64u);
  double rate = 0;
  EXPECT_TRUE(parse_rate(std::string_view("8mbits").substr(0, 5), &rate));
  EXPECT_EQ(rate, 1e6);
}

TEST(UnitsTest, ParsesRatesInBitsToBytes) {
  const std::pair<const char*, double> cases[] = {
      {"8bit", 1},        {"8kbit", 1e3},       {"100mbit", 12.5e6}, {"100Mbit", 12.5e6},
      {"10gbit", 1.25e9}, {"2.5GBIT", 312.5e6}, {"1tbit", 125e9},    {"0.8mbit", 1e5},
  };
  for (const auto& [text, expected] : cases) {
    double rate = -1;
    EXPECT_TRUE(parse_rate(text, &rate)) << text;
    EXPECT_DOUBLE_EQ(rate, expected) << text;
  }
}

TEST(UnitsTest, RefusesOtherRates) {
  for (const char* text : {"", "100", "mbit", "0mbit", "-1mbit", "+1mbit", "100 mbit", "100mbit ", "100mbps", "100m",
                           "100Mbit/s", "1e3mbit", "infbit", "nanbit", "0x1mbit", "fast"}) {
    double rate = -1;
    EXPECT_FALSE(parse_rate(text, &rate)) << "'" << text << "'";
    EXPECT_EQ(rate, -1) << "'" << text << "'";
  }
}

TEST(UnitsTest, FormatsBytes) {
  EXPECT_EQ(format_bytes(0), "0");
  EXPECT_EQ(format_bytes(1000), "1000");
  EXPECT_EQ(format_bytes(1023), "1023");
  EXPECT_EQ(format_bytes(1024), "1K");
  EXPECT_EQ(format_bytes(1536), "1536");
  EXPECT_EQ(format_bytes(65536), "64K");
  EXPECT_EQ(format_bytes(32u << 20), "32M");
  EXPECT_EQ(format_bytes(std::uint64_t{1} << 50), "1024T") << "there is nothing larger than T";
  EXPECT_EQ(format_bytes(UINT64_MAX), "18446744073709551615");
}

TEST(UnitsTest, FormatsRates) {
  EXPECT_EQ(format_rate(1.0 / 8), "1bit");
  EXPECT_EQ(format_rate(125), "1kbit");
  EXPECT_EQ(format_rate(12.5e6), "100mbit");
  EXPECT_EQ(format_rate(1.25e9), "10gbit");
  EXPECT_EQ(format_rate(312.5e6), "2.5gbit");
  EXPECT_EQ(format_rate(125e12), "1000tbit") << "there is nothing larger than tbit";
}

TEST(UnitsTest, WhatIsFormattedParsesBack) {
  for (const std::uint64_t bytes : {0ul, 1ul, 1000ul, 1024ul, 61440ul, 1ul << 33, UINT64_MAX}) {
    std::uint64_t parsed = 1;
    EXPECT_TRUE(parse_bytes(format_bytes(bytes), &parsed));
    EXPECT_EQ(parsed, bytes);
  }
  for (const double rate : {1.0, 12.5e6, 1.25e9, 3.1e7}) {
    double parsed = 0;
    EXPECT_TRUE(parse_rate(format_rate(rate), &parsed));
    EXPECT_DOUBLE_EQ(parsed, rate);
  }
}

}  // namespace
}  // namespace hps
