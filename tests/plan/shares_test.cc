// SPDX-License-Identifier: BSD-3-Clause
// Shares against exact arithmetic. The oracle does not know the formulas: it solves, in integers, the equations that
// say that all nodes are busy for the same time.
#include "plan/shares.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/plan/test_plan.h"

namespace hps {
namespace {

using Integer = std::int64_t;
using Row = std::array<Integer, 3>;

Integer determinant(const std::array<Row, 3>& m) {
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

// Fractions over one denominator.
struct Exact {
  Integer worker, cpu_only, time, denominator;
};

// Cramer's rule for time - (n-2) worker = 1, time - n cpu_only = 0, n worker + k cpu_only = 1. Where that makes worker
// negative, the workers' own traffic is the bound: worker = 0, time = 1, and the CPU-only nodes share the vector.
Exact exact(Integer n, Integer k) {
  if (n == 1) return {1, 0, 0, 1};
  if (n == 2) return {1, 0, 2, 2};
  if (k == 0) return {1, 0, 2 * (n - 1), n};
  const std::array<Row, 3> m{{{-(n - 2), 0, 1}, {0, -n, 1}, {n, k, 0}}};
  const Row right{1, 0, 1};
  Row solution{};
  for (std::size_t column = 0; column < 3; ++column) {
    std::array<Row, 3> replaced = m;
    for (std::size_t row = 0; row < 3; ++row) replaced[row][column] = right[row];
    solution[column] = determinant(replaced);
  }
  const Integer sign = determinant(m) < 0 ? -1 : 1;
  if (sign * solution[0] < 0) return {0, 1, k, k};
  return {sign * solution[0], sign * solution[1], sign * solution[2], sign * determinant(m)};
}

double value(Integer numerator, Integer denominator) {
  return static_cast<double>(numerator) / static_cast<double>(denominator);
}

TEST(EqualShares, AgreeWithExactArithmetic) {
  for (std::uint32_t n = 1; n <= 64; ++n) {
    for (std::uint32_t k = 0; k <= 80; ++k) {
      const Exact oracle = exact(n, k);
      ASSERT_EQ(n * oracle.worker + k * oracle.cpu_only, oracle.denominator);
      const Shares shares = equal_shares(n, k);
      ASSERT_EQ(shares.worker.size(), n);
      ASSERT_EQ(shares.cpu_only.size(), k);
      for (const double share : shares.worker) ASSERT_DOUBLE_EQ(share, value(oracle.worker, oracle.denominator));
      for (const double share : shares.cpu_only) ASSERT_DOUBLE_EQ(share, value(oracle.cpu_only, oracle.denominator));
      ASSERT_DOUBLE_EQ(equal_bound_factor(n, k), value(oracle.time, oracle.denominator)) << n << " " << k;
    }
  }
}

TEST(EqualShares, TakeTheBound) {
  for (std::uint32_t n = 1; n <= 64; ++n) {
    for (std::uint32_t k = 0; k <= 80; ++k) {
      const std::vector<double> worker(n, 4.0);
      const std::vector<double> cpu_only(k, 4.0);
      const double seconds = seconds_of_shares(100, equal_shares(n, k), worker, cpu_only);
      ASSERT_NEAR(seconds, equal_bound_factor(n, k) * 25, 1e-12) << n << " " << k;
    }
  }
}

TEST(EqualBoundFactor, IsAllReducesAtK0AndOneFromKnOn) {
  EXPECT_DOUBLE_EQ(equal_bound_factor(8, 0), 2.0 * 7 / 8);
  EXPECT_DOUBLE_EQ(equal_bound_factor(8, 4), 2.0 * 8 * 7 / 88);
  EXPECT_EQ(equal_bound_factor(8, 8), 1);
  EXPECT_EQ(equal_bound_factor(8, 9), 1);
  EXPECT_NEAR(equal_bound_factor(4000000000u, 2000000000u), 4.0 / 3, 1e-9);
}

TEST(SharesByBandwidth, EqualBandwidthsGiveEqualShares) {
  for (std::uint32_t n = 1; n <= 20; ++n) {
    for (std::uint32_t k = 0; k <= 24; ++k) {
      Shares shares;
      ASSERT_TRUE(shares_by_bandwidth(std::vector<double>(n, 0.3), std::vector<double>(k, 0.3), &shares).ok());
      const Shares expected = equal_shares(n, k);
      for (std::uint32_t i = 0; i < n; ++i) ASSERT_NEAR(shares.worker[i], expected.worker[i], 1e-14);
      for (std::uint32_t j = 0; j < k; ++j) ASSERT_NEAR(shares.cpu_only[j], expected.cpu_only[j], 1e-14);
    }
  }
}

TEST(SharesByBandwidth, SlackIsScaledDown) {
  // The slow worker needs 10 s for its own traffic; in that time the others could carry far more than the vector.
  Shares shares;
  ASSERT_TRUE(shares_by_bandwidth({1, 10, 10}, {10}, &shares).ok());
  EXPECT_EQ(shares.worker[0], 0);
  EXPECT_DOUBLE_EQ(shares.worker[1], shares.worker[2]);
  EXPECT_DOUBLE_EQ(2 * shares.worker[1] + shares.cpu_only[0], 1);
  EXPECT_DOUBLE_EQ(seconds_of_shares(10, shares, {1, 10, 10}, {10}), 10);
}

TEST(SharesByBandwidth, SurvivesTheEndsOfDouble) {
  const double tiny = std::numeric_limits<double>::min();
  const double huge = std::numeric_limits<double>::max();
  for (const std::vector<double>& rates :
       {std::vector<double>{tiny, huge, huge}, {huge, huge, huge}, {tiny, tiny, tiny}}) {
    Shares shares;
    ASSERT_TRUE(shares_by_bandwidth(rates, {tiny, huge}, &shares).ok());
    double whole = 0;
    for (const double share : shares.worker) whole += share;
    for (const double share : shares.cpu_only) whole += share;
    EXPECT_NEAR(whole, 1, 1e-12);
  }
}

TEST(SharesByBandwidth, TwoWorkersTakeHalvesAndOneTakesAll) {
  Shares shares;
  ASSERT_TRUE(shares_by_bandwidth({1, 3}, {5}, &shares).ok());
  EXPECT_EQ(shares.worker, (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(shares.cpu_only, (std::vector<double>{0}));
  ASSERT_TRUE(shares_by_bandwidth({7}, {5, 5}, &shares).ok());
  EXPECT_EQ(shares.worker, (std::vector<double>{1}));
  EXPECT_EQ(shares.cpu_only, (std::vector<double>{0, 0}));
}

TEST(SharesByBandwidth, RefusesBadRatesAndLeavesTheOutputAlone) {
  const double infinity = std::numeric_limits<double>::infinity();
  Shares shares{{0.25}, {0.75}};
  double seconds = 42;
  for (const double bad : {0.0, -1.0, infinity, std::nan("")}) {
    expect_invalid(shares_by_bandwidth({1, bad}, {}, &shares), "worker node 1");
    expect_invalid(shares_by_bandwidth({1, 1}, {1, 1, bad}, &shares), "CPU-only node 2");
    expect_invalid(bound_seconds(1, {bad}, {}, &seconds), "worker node 0");
  }
  expect_invalid(shares_by_bandwidth({}, {1}, &shares), "no worker");
  expect_invalid(bound_seconds(1, {}, {1}, &seconds), "no worker");
  EXPECT_EQ(shares.worker, (std::vector<double>{0.25}));
  EXPECT_EQ(shares.cpu_only, (std::vector<double>{0.75}));
  EXPECT_EQ(seconds, 42);
}

TEST(BoundSeconds, KnowsTheEdges) {
  double seconds = -1;
  ASSERT_TRUE(bound_seconds(100, {10}, {1}, &seconds).ok());
  EXPECT_EQ(seconds, 0);
  ASSERT_TRUE(bound_seconds(100, {10, 20}, {1, 1}, &seconds).ok());
  EXPECT_EQ(seconds, 10);
}

}  // namespace
}  // namespace hps
