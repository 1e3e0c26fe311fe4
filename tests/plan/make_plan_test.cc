// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "plan/rates.h"
#include "plan/shares.h"
#include "tests/plan/test_plan.h"

namespace hps {
namespace {

// The part of the sequence that each node has.
std::vector<double> parts_of(const Plan& plan) {
  std::vector<double> parts(plan.nodes.size(), 0);
  for (const PlanOwner& owner : plan.owners) parts[owner.node] += owner.weight;
  for (double& part : parts) part /= plan.sequence().period();
  return parts;
}

// The seconds of the busiest node for the parts it really has, by the bound.
double times_bound(const Plan& plan) {
  const std::vector<double> parts = parts_of(plan);
  const auto first_cpu_only = parts.begin() + static_cast<std::ptrdiff_t>(plan.n);
  const Rates rates = rates_of(plan.nodes);
  const Shares shares{{parts.begin(), first_cpu_only}, {first_cpu_only, parts.end()}};
  return seconds_of_shares(1, shares, rates.worker, rates.cpu_only) / plan.bound_seconds(1);
}

TEST(MakePlan, EqualNodesGetExactParts) {
  for (std::uint32_t n = 1; n <= 12; ++n) {
    for (std::uint32_t k = 0; k <= 14; ++k) {
      for (const std::uint32_t owners : {1u, 3u}) {
        const Plan plan = made_of(test_nodes(n, k, 1e9, owners));
        ASSERT_EQ(plan.n, n);
        ASSERT_EQ(plan.k, k);
        const std::vector<double> parts = parts_of(plan);
        for (std::size_t i = 0; i < parts.size(); ++i) ASSERT_DOUBLE_EQ(parts[i], plan.nodes[i].share);
        if (n == 1) continue;  // without a network there is no bound
        ASSERT_NEAR(times_bound(plan), 1, 1e-12);
      }
    }
  }
}

TEST(MakePlan, WorkersComeFirstInTheOrderGiven) {
  std::vector<PlanNode> nodes{
      {true, 0, {40}}, {false, 0, {10, 11}}, {true, 0, {50}}, {false, 0, {20}}, {false, 0, {30}}};
  const Plan plan = made_of(nodes);
  EXPECT_EQ(plan.n, 3u);
  EXPECT_EQ(plan.k, 2u);
  std::vector<std::pair<Rank, std::uint32_t>> owners;
  for (const PlanOwner& owner : plan.owners) owners.emplace_back(owner.rank, owner.node);
  const std::vector<std::pair<Rank, std::uint32_t>> expected{{10, 0}, {11, 0}, {20, 1}, {30, 2}, {40, 3}, {50, 4}};
  EXPECT_EQ(owners, expected);
}

TEST(MakePlan, OwnersWithoutWeightAreLeftOut) {
  const auto ranks = [](const Plan& plan) {
    std::vector<Rank> result;
    for (const PlanOwner& owner : plan.owners) result.push_back(owner.rank);
    return result;
  };
  EXPECT_EQ(ranks(test_plan(3, 3)), (std::vector<Rank>{3, 4, 5})) << "k >= n: the CPU-only nodes sum all";
  EXPECT_EQ(ranks(test_plan(2, 3)), (std::vector<Rank>{0, 1})) << "n = 2: they are no help";
  EXPECT_EQ(ranks(test_plan(1, 3)), (std::vector<Rank>{0})) << "n = 1: nor here";
}

TEST(MakePlan, UnknownRatesCountAsEqual) {
  std::vector<PlanNode> nodes = test_nodes(4, 2, 1e8);
  nodes[1].rate = 5e7;
  nodes[5].rate = 0;
  const Plan plan = made_of(nodes);
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    EXPECT_EQ(plan.nodes[i].share, test_plan(4, 2).nodes[i].share);
    EXPECT_EQ(plan.nodes[i].rate, nodes[i].rate);
  }
}

TEST(MakePlan, KnownRatesDecideShares) {
  std::vector<PlanNode> nodes = test_nodes(8, 4, 1e8);
  nodes[9].rate = 2.5e7;
  const Plan plan = made_of(nodes);
  EXPECT_DOUBLE_EQ(plan.nodes[9].share, plan.nodes[8].share / 4);
  EXPECT_LE(times_bound(plan), 1.001);
}

TEST(MakePlan, WeightsReachTheBoundForAnyRates) {
  std::mt19937 random(3);
  const auto below = [&random](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  for (int round = 0; round < 100; ++round) {
    const std::uint32_t n = 2 + below(14);
    std::vector<PlanNode> nodes = test_nodes(n, below(14), 0, 1 + below(3));
    for (PlanNode& node : nodes) node.rate = 1e7 * std::pow(100.0, below(1000) / 1000.0);
    ASSERT_LE(times_bound(made_of(nodes)), 1.0011);
  }
}

TEST(MakePlan, IsDeterministic) {
  std::vector<PlanNode> nodes = test_nodes(7, 5, 1e9, 2);
  nodes[3].rate = 3e8;
  const Plan first = made_of(nodes);
  const Plan second = made_of(nodes);
  EXPECT_EQ(first, second);
  for (std::uint32_t chunk = 0; chunk < first.sequence().period(); ++chunk) {
    ASSERT_EQ(first.owner_of(chunk), second.owner_of(chunk));
  }
}

TEST(MakePlan, ChunksGrowWithTheRate) {
  EXPECT_EQ(test_plan(8, 4).chunk_bytes, 16384u);
  EXPECT_EQ(test_plan(8, 4, 1e6).chunk_bytes, 4096u);
  EXPECT_EQ(test_plan(8, 4, 2.5e6).chunk_bytes, 8192u);
  EXPECT_EQ(test_plan(8, 4, 7.5e6).chunk_bytes, 12288u);
  EXPECT_EQ(test_plan(8, 4, 12.5e6).chunk_bytes, 16384u);
  EXPECT_EQ(test_plan(8, 4, 62.5e6).chunk_bytes, 16384u);
  EXPECT_EQ(test_plan(8, 4, 125e6).chunk_bytes, 61440u);
  EXPECT_EQ(test_plan(8, 4, 12.5e9).chunk_bytes, 61440u);
  std::uint32_t last = 0;
  for (double rate = 5e7; rate < 1.5e8; rate += 1e6) {
    const Plan plan = test_plan(8, 4, rate);
    ASSERT_GE(plan.chunk_bytes, last);
    ASSERT_EQ(plan.chunk_bytes % 64, 0u);
    ASSERT_LE(plan.min_chunk_bytes, plan.chunk_bytes / 8 + 1);
    last = plan.chunk_bytes;
  }
}

TEST(MakePlan, TheSlowestWorkerSetsTheChunkSize) {
  std::vector<PlanNode> nodes = test_nodes(4, 2, 1e9);
  nodes[5].rate = 1e7;
  EXPECT_EQ(made_of(nodes).chunk_bytes, 61440u);
  nodes[2].rate = 5e7;
  EXPECT_EQ(made_of(nodes).chunk_bytes, 16384u);
}

TEST(MakePlan, ChunkOptions) {
  PlanOptions options;
  options.max_chunk_bytes = 8000;
  EXPECT_EQ(test_plan(3, 0, 1e9, options).chunk_bytes, 8000u);
  options.max_chunk_bytes = 8010;
  EXPECT_EQ(test_plan(3, 0, 1e9, options).chunk_bytes, 8000u) << "the default is cut to a multiple of 64";
  options.chunk_bytes = 1000;
  EXPECT_EQ(test_plan(3, 0, 1e9, options).chunk_bytes, 1000u);
  EXPECT_EQ(test_plan(3, 0, 1e9, options).min_chunk_bytes, 1000u);
}

TEST(MakePlan, WindowsHoldTheGroup) {
  for (const double rate : {0.0, 1e7, 1e9}) {
    for (std::uint32_t n = 1; n <= 70; n += 7) {
      for (std::uint32_t k = 0; k <= 70; k += 7) {
        const Plan plan = test_plan(n, k, rate);
        ASSERT_EQ(plan.rotation, std::min(n + k, plan.window));
        ASSERT_GE(plan.window, 16u);
        ASSERT_LE(plan.window, 128u);
      }
    }
  }
}

TEST(MakePlan, DefaultWindows) {
  EXPECT_EQ(test_plan(8, 4).window, 16u);
  EXPECT_EQ(test_plan(16, 8).window, 24u);
  EXPECT_EQ(test_plan(64, 64).window, 32u);
  EXPECT_EQ(test_plan(8, 4, 125e6).window, 32u) << "fast links need two to three groups where both kinds own chunks";
  EXPECT_EQ(test_plan(16, 8, 125e6).window, 48u);
  EXPECT_EQ(test_plan(8, 4, 625e6).window, 48u);
  EXPECT_EQ(test_plan(8, 4, 1.25e9).window, 96u);
  EXPECT_EQ(test_plan(32, 16, 1.25e9).window, 128u);
  EXPECT_EQ(test_plan(8, 8, 125e6).window, 24u);
  EXPECT_EQ(test_plan(8, 0, 125e6).window, 16u);
  EXPECT_EQ(made_of(test_nodes(6, 0, 0, 4)).rotation, 24u) << "owners count where they are more than nodes";
}

TEST(MakePlan, TheWindowOptionLimitsTheGroup) {
  PlanOptions options;
  options.window = 5;
  EXPECT_EQ(test_plan(8, 4, 0, options).window, 5u);
  EXPECT_EQ(test_plan(8, 4, 0, options).rotation, 5u);
  options.window = 100;
  EXPECT_EQ(test_plan(8, 4, 0, options).rotation, 12u);
}

TEST(MakePlan, LatencyIsTheOptionOrADefault) {
  PlanOptions options;
  options.latency_s = 0.25;
  EXPECT_EQ(test_plan(3, 0, 0, options).latency_s, 0.25);
  EXPECT_EQ(test_plan(3, 0).latency_s, 50e-6);
  EXPECT_LT(test_plan(1, 0).latency_s, 50e-6);
}

TEST(MakePlan, AlgorithmOptionForces) {
  PlanOptions options;
  for (Algorithm algorithm : all_algorithms) {
    options.algorithm = algorithm;
    const Plan plan = test_plan(8, 4, 0, options);
    EXPECT_EQ(plan.algorithm(0), algorithm);
    EXPECT_EQ(plan.algorithm(UINT64_MAX), algorithm);
  }
}

TEST(MakePlan, LargeGroups) {
  const Plan plan = test_plan(1024, 512, 1e8);
  EXPECT_LE(plan.sequence().period(), 1u << 14) << "thousands of plans must fit in one process";
  EXPECT_LE(times_bound(plan), 1.001);
  EXPECT_LE(made_of(test_nodes(1000, 500, 1e8, 8)).sequence().period(), 1u << 16);
}

TEST(MakePlan, RefusesBadInputAndLeavesTheOutputAlone) {
  const Plan before = test_plan(3, 2);
  Plan plan = before;
  const auto refuses = [&plan](const std::vector<PlanNode>& nodes, const PlanOptions& options,
                               const std::string& text) {
    SCOPED_TRACE(text);
    expect_invalid(make_plan(nodes, options, &plan), text);
  };
  refuses({}, {}, "no worker");
  refuses({{true, 0, {1}}}, {}, "no worker");
  refuses({{false, 0, {1}}, {true, 0, {}}}, {}, "node 1 has no rank");
  refuses({{false, 0, {1}}, {false, 0, {1}}}, {}, "named twice");
  refuses({{false, 0, {-7}}}, {}, "-7");
  refuses({{false, -1, {1}}}, {}, "rate");
  refuses({{false, std::nan(""), {1}}}, {}, "rate");
  refuses({{false, std::numeric_limits<double>::infinity(), {1}}}, {}, "rate");
  refuses(test_nodes(65536, 1), {}, "65537 nodes");
  refuses(test_nodes(2, 0), {.chunk_bytes = 63}, "63 bytes");
  refuses(test_nodes(2, 0), {.chunk_bytes = 61441}, "61441 bytes");
  refuses(test_nodes(2, 0), {.max_chunk_bytes = 63}, "63 bytes");
  refuses(test_nodes(2, 0), {.window = 70000}, "window is 70000");
  refuses(test_nodes(2, 0), {.latency_s = -1}, "latency");
  refuses(test_nodes(2, 0), {.latency_s = std::nan("")}, "latency");
  EXPECT_EQ(plan, before);
}

}  // namespace
}  // namespace hps
