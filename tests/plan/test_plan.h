// SPDX-License-Identifier: BSD-3-Clause
// Plans for tests: nodes of one kind or two, with consecutive ranks.
#ifndef HPS_TESTS_PLAN_TEST_PLAN_H
#define HPS_TESTS_PLAN_TEST_PLAN_H

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace hps {

// n worker nodes, then k CPU-only nodes, of `owners` ranks each.
inline std::vector<PlanNode> test_nodes(std::uint32_t n, std::uint32_t k, double rate = 0, std::uint32_t owners = 1) {
  std::vector<PlanNode> nodes;
  Rank next = 0;
  for (std::uint32_t i = 0; i < n + k; ++i) {
    PlanNode node{i >= n, rate, {}};
    for (std::uint32_t owner = 0; owner < owners; ++owner) node.owners.push_back(next++);
    nodes.push_back(node);
  }
  return nodes;
}

inline Plan made_of(const std::vector<PlanNode>& nodes, const PlanOptions& options = {}) {
  Plan plan;
  const Status status = make_plan(nodes, options, &plan);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return plan;
}

inline Plan test_plan(std::uint32_t n, std::uint32_t k, double rate = 0, const PlanOptions& options = {}) {
  return made_of(test_nodes(n, k, rate), options);
}

// That the status is invalid_argument, and says `part`.
inline void expect_invalid(const Status& status, const std::string& part) {
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_NE(status.to_string().find(part), std::string::npos) << status.to_string();
}

}  // namespace hps

#endif
