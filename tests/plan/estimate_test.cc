// SPDX-License-Identifier: BSD-3-Clause
#include "plan/estimate.h"

#include <gtest/gtest.h>

#include "tests/plan/test_plan.h"

namespace hps {
namespace {

constexpr double rate = 12.5e6;  // 100 Mbit/s
constexpr double latency = 1e-3;

Plan slow_plan(std::uint32_t n, std::uint32_t k, PlanOptions options = {}) {
  options.latency_s = latency;
  return test_plan(n, k, rate, options);
}

TEST(RecursiveDoublingSeconds, StepsOfTheTree) {
  const int steps[] = {1, 3, 2, 4, 4, 4, 3, 5};  // n = 2 to 9
  for (std::uint32_t n = 2; n <= 9; ++n) {
    const double expected = steps[n - 2] * (latency + 1000 / rate);
    EXPECT_DOUBLE_EQ(recursive_doubling_seconds(slow_plan(n, 3), 1000), expected) << n;
  }
}

TEST(RecursiveDoublingSeconds, TheSlowestWorkerCounts) {
  std::vector<PlanNode> nodes = test_nodes(4, 2, rate);
  nodes[2].rate = rate / 2;
  nodes[5].rate = rate / 100;
  const Plan plan = made_of(nodes);
  EXPECT_DOUBLE_EQ(recursive_doubling_seconds(plan, 1000), 2 * (plan.latency_s + 2 * 1000 / rate));
}

TEST(DirectSeconds, LongMessagesTakeTheBound) {
  for (const std::uint32_t k : {0u, 3u, 8u, 12u}) {
    const Plan plan = slow_plan(8, k);
    const double bytes = 64 << 20;
    EXPECT_NEAR(direct_seconds(plan, bytes), plan.bound_seconds(bytes) + 2 * latency, 1e-9);
  }
}

TEST(DirectSeconds, OneChunkMakesItsOwnerTheBottleneck) {
  const Plan workers = slow_plan(4, 0);  // the owner gets three pushes, and sends three results
  EXPECT_DOUBLE_EQ(direct_seconds(workers, 2000), 2 * latency + 3 * 2000 / rate);
  const Plan with_cpu_only = slow_plan(4, 4);
  EXPECT_DOUBLE_EQ(direct_seconds(with_cpu_only, 2000), 2 * latency + 4 * 2000 / rate);
}

TEST(DirectSeconds, AFewChunksLoadAFewOwners) {
  const Plan plan = slow_plan(8, 8);  // three CPU-only nodes sum one chunk each
  EXPECT_DOUBLE_EQ(direct_seconds(plan, 3 * 2048), 2 * latency + 8 * 2048 / rate);
}

TEST(DirectSeconds, MessagesCostOnFastLinks) {
  const Plan plan = test_plan(4, 4, 1e12);
  // One chunk: its owner receives four messages and sends four.
  EXPECT_DOUBLE_EQ(direct_seconds(plan, 64), 2 * plan.latency_s + 8 * 15e-6);
}

TEST(DirectSeconds, NothingAndVeryMuch) {
  const Plan plan = slow_plan(4, 2);
  EXPECT_EQ(direct_seconds(plan, 0), 0);
  EXPECT_NEAR(direct_seconds(plan, 1e30) / plan.bound_seconds(1e30), 1, 1e-9);
}

TEST(RecursiveDoublingUpTo, IsWhereDirectBecomesFaster) {
  for (std::uint32_t n = 3; n <= 40; ++n) {
    for (const std::uint32_t k : {0u, 2u, 8u}) {
      const Plan plan = test_plan(n, k, rate);
      const std::uint32_t threshold = plan.small_bytes;
      if (threshold == 61440) continue;
      ASSERT_GE(threshold, 64u) << "what fits one packet goes by recursive doubling";
      ASSERT_LE(recursive_doubling_seconds(plan, threshold), direct_seconds(plan, threshold));
      // Sizes are tried in steps of an eighth; the estimates themselves have steps, where one more chunk is needed.
      bool direct_is_faster = false;
      for (std::uint32_t above = threshold; above <= threshold + threshold / 8 + 64; above += 64) {
        direct_is_faster |= recursive_doubling_seconds(plan, above) > direct_seconds(plan, above);
      }
      ASSERT_TRUE(direct_is_faster) << n << " " << k;
    }
  }
}

TEST(RecursiveDoublingUpTo, TwoWorkersOneStepUpToTheLimit) {
  EXPECT_EQ(test_plan(2, 0, rate).small_bytes, 61440u);
  EXPECT_EQ(recursive_doubling_up_to(test_plan(2, 3, rate), 5000), 5000u);
}

TEST(RecursiveDoublingUpTo, LatencyMovesIt) {
  PlanOptions options;
  options.latency_s = 1e-4;
  const std::uint32_t far = test_plan(16, 0, 125e6, options).small_bytes;
  options.latency_s = 1e-6;
  EXPECT_GT(test_plan(16, 0, 125e6, options).small_bytes, far) << "four steps suffer more from latency than two";
}

TEST(RecursiveDoublingUpTo, UnknownRatesCountAsOneGigabit) {
  PlanOptions options;
  options.chunk_bytes = 16384;
  EXPECT_EQ(test_plan(8, 4, 0, options).small_bytes, test_plan(8, 4, 125e6, options).small_bytes);
}

TEST(RecursiveDoublingUpTo, OneNodeCountsItsRanks) {
  const Plan four = made_of(test_nodes(1, 0, 0, 4));
  const Plan eight = made_of(test_nodes(1, 0, 0, 8));
  EXPECT_EQ(recursive_doubling_seconds(made_of(test_nodes(1, 0)), 1e6), 0);
  EXPECT_GT(recursive_doubling_seconds(eight, 1e6), recursive_doubling_seconds(four, 1e6));
  EXPECT_GT(four.small_bytes, 0u);
  EXPECT_LT(direct_seconds(eight, 1e8), recursive_doubling_seconds(eight, 1e8));
}

}  // namespace
}  // namespace hps
