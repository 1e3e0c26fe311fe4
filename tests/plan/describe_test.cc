// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <clocale>

#include "tests/plan/test_plan.h"

namespace hps {
namespace {

TEST(Describe, EqualNodes) {
  EXPECT_EQ(
      test_plan(8, 4).describe(),
      "n=8 workers, k=4 CPU-only: 15.9 % on each CPU-only node, 4.5 % on each worker node; 1.375x over all-reduce");
  EXPECT_EQ(test_plan(8, 4, 1e9).describe(), test_plan(8, 4).describe());
  EXPECT_EQ(test_plan(8, 0).describe(), "n=8 workers, k=0 CPU-only: 12.5 % on each worker node");
  EXPECT_EQ(
      test_plan(8, 10).describe(),
      "n=8 workers, k=10 CPU-only: 10.0 % on each CPU-only node, 0.0 % on each worker node; 1.75x over all-reduce");
}

TEST(Describe, FewNodes) {
  EXPECT_EQ(test_plan(1, 2).describe(), "n=1 worker, k=2 CPU-only: one worker node, so no network to wait for");
  EXPECT_EQ(test_plan(2, 0).describe(), "n=2 workers, k=0 CPU-only: 50.0 % on each worker node");
  EXPECT_EQ(test_plan(2, 1).describe(),
            "n=2 workers, k=1 CPU-only: 50.0 % on each worker node; two worker nodes gain nothing from CPU-only nodes");
}

TEST(Describe, UnequalNodesHaveRanges) {
  std::vector<PlanNode> nodes = test_nodes(4, 2, 1e8);
  nodes[4].rate = 5e7;
  // 24 / (4 * 4 + 2 * 1.5) = 24/19: CPU-only nodes 24/19/4 and half of that, worker nodes (24/19 - 1) / 2.
  EXPECT_EQ(made_of(nodes).describe(),
            "n=4 workers, k=2 CPU-only: 15.8 to 31.6 % on CPU-only nodes, 13.2 % on each worker node; "
            "1.188x over all-reduce");
}

TEST(Describe, UsesAPointInEveryLocale) {
  const char* german = std::setlocale(LC_NUMERIC, "de_DE.UTF-8");
  const std::string text = test_plan(8, 4).describe();
  std::setlocale(LC_NUMERIC, "C");
  EXPECT_NE(text.find("15.9 %"), std::string::npos);
  if (german == nullptr) GTEST_SKIP() << "the locale de_DE.UTF-8 is not installed";
}

}  // namespace
}  // namespace hps
