// SPDX-License-Identifier: BSD-3-Clause
#include "plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include "tests/plan/test_plan.h"

namespace hps {
namespace {

Plan with_rotation(std::uint32_t rotation) {
  Plan plan = test_plan(3, 2);
  plan.rotation = rotation;
  plan.window = std::max(plan.window, rotation);
  return plan;
}

std::vector<std::uint64_t> order_of(const Plan& plan, std::uint64_t chunks, std::uint32_t starter,
                                    std::uint32_t starters) {
  std::vector<std::uint64_t> order;
  for (std::uint64_t step = 0; step < chunks; ++step) order.push_back(plan.chunk_at(step, chunks, starter, starters));
  return order;
}

TEST(ChunkAt, IsAPermutationGroupByGroup) {
  for (const std::uint32_t rotation : {1u, 2u, 5u, 12u, 16u}) {
    const Plan plan = with_rotation(rotation);
    for (std::uint64_t chunks = 1; chunks <= 40; ++chunks) {
      for (const std::uint32_t starters : {1u, 2u, 3u, 7u, 12u, 33u}) {
        for (std::uint32_t starter = 0; starter < starters; ++starter) {
          std::vector<std::uint64_t> order = order_of(plan, chunks, starter, starters);
          for (std::uint64_t group = 0; group < chunks; group += rotation) {
            const auto begin = order.begin() + static_cast<std::ptrdiff_t>(group);
            const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(chunks, group + rotation));
            std::sort(begin, end);
          }
          std::vector<std::uint64_t> ascending(chunks);
          std::iota(ascending.begin(), ascending.end(), 0u);
          ASSERT_EQ(order, ascending) << rotation << " " << chunks << " " << starter << "/" << starters;
        }
      }
    }
  }
}

TEST(ChunkAt, WorkersStartAtDifferentPlacesAndWrap) {
  const Plan plan = with_rotation(4);
  EXPECT_EQ(order_of(plan, 7, 0, 4), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(order_of(plan, 7, 1, 4), (std::vector<std::uint64_t>{1, 2, 3, 0, 4, 5, 6}));
  EXPECT_EQ(order_of(plan, 7, 3, 4), (std::vector<std::uint64_t>{3, 0, 1, 2, 6, 4, 5}));
}

TEST(ChunkAt, StartsAreSpreadEvenly) {
  const Plan plan = with_rotation(12);
  std::vector<int> starts(12, 0);
  for (std::uint32_t starter = 0; starter < 30; ++starter) ++starts[plan.chunk_at(0, 1000, starter, 30)];
  for (const int workers : starts) EXPECT_TRUE(workers == 2 || workers == 3);
}

TEST(ChunkAt, SurvivesLargeNumbers) {
  const Plan plan = with_rotation(16);
  const std::uint64_t chunks = std::uint64_t{1} << 40;
  EXPECT_EQ(plan.chunk_at(chunks - 1, chunks, UINT32_MAX - 1, UINT32_MAX), chunks - 2);
}

TEST(PlanAlgorithm, ChangesAfterSmallBytes) {
  Plan plan = test_plan(3, 2);
  plan.small_bytes = 100;
  EXPECT_EQ(plan.algorithm(0), Algorithm::recursive_doubling);
  EXPECT_EQ(plan.algorithm(100), Algorithm::recursive_doubling);
  EXPECT_EQ(plan.algorithm(101), Algorithm::direct);
}

TEST(PlanFinish, RestoresWhatIsDerived) {
  const Plan made = made_of(test_nodes(4, 2, 1e8, 3));
  Plan received;
  received.number = made.number;
  received.n = made.n;
  received.k = made.k;
  received.nodes = made.nodes;
  received.owners = made.owners;
  received.chunk_bytes = made.chunk_bytes;
  received.min_chunk_bytes = made.min_chunk_bytes;
  received.window = made.window;
  received.rotation = made.rotation;
  received.small_bytes = made.small_bytes;
  received.latency_s = made.latency_s;
  EXPECT_EQ(received, made);
  ASSERT_TRUE(received.finish().ok());
  ASSERT_EQ(received.sequence().period(), made.sequence().period());
  for (std::uint32_t chunk = 0; chunk < made.sequence().period(); ++chunk) {
    ASSERT_EQ(received.owner_of(chunk), made.owner_of(chunk));
  }
}

TEST(PlanFinish, OwnersMayStandInAnyOrder) {
  Plan plan = made_of(test_nodes(3, 2, 0, 2));
  std::reverse(plan.owners.begin(), plan.owners.end());
  EXPECT_TRUE(plan.finish().ok());
}

// One change to a good plan, and what the error must name.
struct Damage {
  std::string text;
  std::function<void(Plan&)> apply;
};

const double nan = std::nan("");
const double infinity = std::numeric_limits<double>::infinity();

const Damage damages[] = {
    {"no worker", [](Plan& p) { p.n = 0; }},
    {"n=3 and k=3", [](Plan& p) { p.k = 3; }},
    {"n=4294967295", [](Plan& p) { p.n = UINT32_MAX, p.k = 6; }},
    {"70000 nodes",
     [](Plan& p) {
       p.n = 69998, p.nodes.insert(p.nodes.begin(), 69995, {false, 0, 0});
     }},
    {"node 0 is out of order", [](Plan& p) { p.nodes[0].cpu_only = true; }},
    {"node 4 is out of order", [](Plan& p) { p.nodes[4].cpu_only = false; }},
    {"node 1 has rate", [](Plan& p) { p.nodes[1].rate = -1; }},
    {"node 1 has rate", [](Plan& p) { p.nodes[1].rate = nan; }},
    {"node 1 has rate", [](Plan& p) { p.nodes[1].rate = infinity; }},
    {"node 2 has share", [](Plan& p) { p.nodes[2].share = -0.1; }},
    {"node 2 has share", [](Plan& p) { p.nodes[2].share = 1.1; }},
    {"node 2 has share", [](Plan& p) { p.nodes[2].share = nan; }},
    {"shares sum to", [](Plan& p) { p.nodes[2].share += 0.01; }},
    {"no owner", [](Plan& p) { p.owners.clear(); }},
    {"no rank", [](Plan& p) { p.owners[0].rank = no_rank; }},
    {"named twice", [](Plan& p) { p.owners[0].rank = p.owners[1].rank; }},
    {"on node 5 of 5", [](Plan& p) { p.owners[0].node = 5; }},
    {"weight 0", [](Plan& p) { p.owners[0].weight = 0; }},
    {"weights sum", [](Plan& p) { p.owners[0].weight = UINT32_MAX; }},
    {"number is 0", [](Plan& p) { p.number = 0; }},
    {"chunk_bytes is 63", [](Plan& p) { p.chunk_bytes = 63; }},
    {"chunk_bytes is 4294967295", [](Plan& p) { p.chunk_bytes = UINT32_MAX; }},
    {"min_chunk_bytes is 0", [](Plan& p) { p.min_chunk_bytes = 0; }},
    {"min_chunk_bytes is", [](Plan& p) { p.min_chunk_bytes = p.chunk_bytes + 1; }},
    {"window is 0", [](Plan& p) { p.window = 0; }},
    {"window is 65537", [](Plan& p) { p.window = 65537; }},
    {"rotation is 0", [](Plan& p) { p.rotation = 0; }},
    {"rotation is 17", [](Plan& p) { p.rotation = p.window + 1; }},
    {"latency_s", [](Plan& p) { p.latency_s = -1; }},
    {"latency_s", [](Plan& p) { p.latency_s = nan; }},
};

TEST(PlanFinish, RefusesWhatContradictsItself) {
  for (const Damage& damage : damages) {
    Plan plan = test_plan(3, 2);
    ASSERT_TRUE(plan.finish().ok());
    damage.apply(plan);
    SCOPED_TRACE(damage.text);
    expect_invalid(plan.finish(), damage.text);
  }
}

TEST(PlanEquality, SeesEveryField) {
  const std::function<void(Plan&)> changes[] = {
      [](Plan& p) { ++p.number; },
      [](Plan& p) { ++p.n; },
      [](Plan& p) { ++p.k; },
      [](Plan& p) { p.nodes[0].rate = 5; },
      [](Plan& p) { p.nodes[0].share = 0; },
      [](Plan& p) { p.nodes[0].cpu_only = true; },
      [](Plan& p) { ++p.owners[0].rank; },
      [](Plan& p) { ++p.owners[0].node; },
      [](Plan& p) { ++p.owners[0].weight; },
      [](Plan& p) { ++p.chunk_bytes; },
      [](Plan& p) { ++p.min_chunk_bytes; },
      [](Plan& p) { ++p.window; },
      [](Plan& p) { ++p.rotation; },
      [](Plan& p) { ++p.small_bytes; },
      [](Plan& p) { p.latency_s = 1; },
  };
  const Plan plan = test_plan(3, 2);
  EXPECT_EQ(plan, test_plan(3, 2));
  for (const auto& change : changes) {
    Plan changed = plan;
    change(changed);
    EXPECT_FALSE(changed == plan);
  }
}

}  // namespace
}  // namespace hps
