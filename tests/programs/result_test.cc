// SPDX-License-Identifier: BSD-3-Clause
#include "perf/result.h"

#include <gtest/gtest.h>

namespace hps::perf {
namespace {

// n = 4, k = 2: D = 20, so 0.3 on each CPU-only node, 0.1 on each worker node, and a bound of 1.2 M/B.
Setting four_and_two() { return {4, 2, 8, "direct", -1, {0.1, 0.1, 0.1, 0.1, 0.3, 0.3}}; }

Samples three_calls() {
  Samples samples;
  samples.hps_us = {3000, 2000, 1000};
  samples.hps_mean_us = 2000;
  samples.cpu_s = 1e-3;
  return samples;
}

constexpr std::uint64_t bytes = 1000000;

TEST(ResultTest, TheGivenLinkRateSetsTheBound) {
  Options options;
  options.link_rate = 1e9;
  Setting setting = four_and_two();
  setting.bound_s = 5;
  const Result result = make_result(options, setting, bytes, three_calls());
  EXPECT_STREQ(result.algorithm, "direct");
  EXPECT_EQ(result.n, 4);
  EXPECT_EQ(result.k, 2);
  EXPECT_EQ(result.ranks, 8);
  EXPECT_EQ(result.time.median_us, 2000);
  EXPECT_DOUBLE_EQ(result.algbw_GBps, 0.5);
  EXPECT_DOUBLE_EQ(result.bound_us.value(), 1200);
  EXPECT_DOUBLE_EQ(result.percent_of_bound.value(), 60);
}

TEST(ResultTest, ElseThePlansBoundCounts) {
  Setting setting = four_and_two();
  EXPECT_FALSE(make_result(Options(), setting, bytes, three_calls()).bound_us.has_value());
  EXPECT_FALSE(make_result(Options(), setting, bytes, three_calls()).percent_of_bound.has_value());
  setting.bound_s = 1e-3;
  EXPECT_DOUBLE_EQ(make_result(Options(), setting, bytes, three_calls()).percent_of_bound.value(), 50);
}

TEST(ResultTest, OneNodeHasNoBoundAndNoWire) {
  Options options;
  options.link_rate = 1e9;
  const Setting one{1, 0, 4, "direct", 0, {1}};
  const Result result = make_result(options, one, bytes, three_calls());
  EXPECT_FALSE(result.bound_us.has_value());
  EXPECT_FALSE(result.cpu_ns_per_wire_byte.has_value());
}

TEST(ResultTest, WireBytesCountPushesAndResults) {
  // Ring all-reduce's total: 2(n-1) times the message.
  EXPECT_DOUBLE_EQ(direct_wire_bytes(1000, 4, {0.25, 0.25, 0.25, 0.25}), 6000);
  // All on CPU-only nodes: every worker sends and gets the message once.
  EXPECT_DOUBLE_EQ(direct_wire_bytes(1000, 2, {0, 0, 0.5, 0.5}), 4000);
  EXPECT_DOUBLE_EQ(direct_wire_bytes(1000, 1, {1}), 0);
  // 0.4 * 2 * 3 + 0.6 * 2 * 4 = 7.2 messages in 1e6 ns.
  const Result result = make_result(Options(), four_and_two(), bytes, three_calls());
  EXPECT_NEAR(result.cpu_ns_per_wire_byte.value(), 1 / 7.2, 1e-12);
}

TEST(ResultTest, TheAlgorithmIsNamedAsInTheTable) {
  Setting setting = four_and_two();
  setting.algorithm = "recursive_doubling";
  const Result small = make_result(Options(), setting, 1024, three_calls());
  EXPECT_STREQ(small.algorithm, "recursive_doubling");
  EXPECT_STREQ(make_result(Options(), {1, 0, 1, "direct", 0, {1}}, 1024, three_calls()).algorithm, "local_copy");
  EXPECT_FALSE(small.cpu_ns_per_wire_byte.has_value());
  EXPECT_STREQ(make_result(Options(), four_and_two(), 1024, three_calls()).algorithm, "direct");
}

TEST(ResultTest, PredictsThatTheSamePartOfTheBoundIsReached) {
  Result result = make_result(Options(), four_and_two(), bytes, three_calls());
  const std::vector<Prediction> predictions = predict(result);
  ASSERT_EQ(predictions.size(), 2u);
  EXPECT_EQ(predictions[0].k, 3);  // D = 22
  EXPECT_NEAR(predictions[0].speedup, 22.0 / 20, 1e-12);
  EXPECT_NEAR(predictions[0].time_us, 2000 * 20.0 / 22, 1e-9);
  EXPECT_EQ(predictions[1].k, 4);  // D = 24
  EXPECT_NEAR(predictions[1].time_us, 2000 * 20.0 / 24, 1e-9);
  result.k = 4;
  EXPECT_TRUE(predict(result).empty());
}

TEST(ResultTest, PredictsNothingWhereCpuOnlyNodesDoNotHelp) {
  Setting setting = four_and_two();
  setting.algorithm = "recursive_doubling";
  EXPECT_TRUE(predict(make_result(Options(), setting, 64, three_calls())).empty());
  EXPECT_TRUE(predict(make_result(Options(), {2, 0, 2, "direct", -1, {0.5, 0.5}}, bytes, three_calls())).empty());
}

// 4 worker nodes and 2 CPU-only nodes of which a group has half the links: T = 24 / (4 * 4 + 2 * 1) M/B.
TEST(ResultTest, GroupsShareTheLinksOfCpuOnlyNodes) {
  Options options;
  options.link_rate = 1e6;
  options.groups = 2;
  Setting setting = four_and_two();
  setting.group = 1;
  const Result result = make_result(options, setting, bytes, three_calls());
  EXPECT_EQ(result.group, 1);
  EXPECT_NEAR(*result.bound_us, 24.0 / 18 * static_cast<double>(bytes), 1e-6 * static_cast<double>(bytes));
  options.groups = 1;
  EXPECT_FALSE(make_result(options, setting, bytes, three_calls()).group.has_value());
}

TEST(ResultTest, MpiAndWrongOnlyWhereAskedFor) {
  Options options;
  Samples samples = three_calls();
  samples.wrong = 7;
  EXPECT_EQ(make_result(options, four_and_two(), bytes, samples).wrong, 7u);
  EXPECT_FALSE(make_result(options, four_and_two(), bytes, samples).mpi_time_us.has_value());
  options.check = false;
  samples.mpi_us = {3000, 3000, 5000};
  const Result result = make_result(options, four_and_two(), bytes, samples);
  EXPECT_FALSE(result.wrong.has_value());
  EXPECT_EQ(result.mpi_time_us, 3000);
  EXPECT_EQ(result.speedup_vs_mpi, 1.5);
}

}  // namespace
}  // namespace hps::perf
