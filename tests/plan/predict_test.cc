// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "plan/estimate.h"
#include "tests/plan/test_plan.h"

namespace hps {
namespace {

TEST(BoundSeconds, OfAPlan) {
  EXPECT_DOUBLE_EQ(test_plan(8, 4, 12.5e6).bound_seconds(12.5e6), 112.0 / 88);
  EXPECT_DOUBLE_EQ(test_plan(8, 0, 12.5e6).bound_seconds(12.5e6), 14.0 / 8);
  EXPECT_DOUBLE_EQ(test_plan(2, 4, 12.5e6).bound_seconds(12.5e6), 1);
}

TEST(BoundSeconds, IsZeroWithoutANetwork) { EXPECT_EQ(test_plan(1, 4).bound_seconds(1e9), 0); }

TEST(Predictions, NeedEveryRate) {
  std::vector<PlanNode> nodes = test_nodes(3, 2, 1e8);
  nodes[4].rate = 0;
  EXPECT_LT(made_of(nodes).bound_seconds(1e6), 0);
  EXPECT_LT(made_of(nodes).predicted_seconds(1e6), 0);
  EXPECT_LT(test_plan(1, 0, 1e8).predicted_seconds(1e6), 0) << "n = 1: no link, and memory is not known";
}

TEST(PredictedSeconds, FollowTheAlgorithm) {
  const Plan plan = test_plan(8, 4, 12.5e6);
  const double small = plan.small_bytes;
  EXPECT_EQ(plan.predicted_seconds(small), recursive_doubling_seconds(plan, small));
  EXPECT_EQ(plan.predicted_seconds(small + 1), direct_seconds(plan, small + 1));
  EXPECT_NEAR(plan.predicted_seconds(64 << 20), plan.bound_seconds(64 << 20) + 2 * plan.latency_s, 1e-9);
}

}  // namespace
}  // namespace hps
