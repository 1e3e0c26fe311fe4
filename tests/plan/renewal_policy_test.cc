// SPDX-License-Identifier: BSD-3-Clause
#include "plan/renewal_policy.h"

#include <gtest/gtest.h>

namespace hps {
namespace {

constexpr double mb = 1e6;

Plan plan_of(const std::vector<double>& rates) {
  std::vector<PlanNode> nodes;
  for (std::size_t i = 0; i < rates.size(); ++i) nodes.push_back({i == 3, rates[i], {static_cast<Rank>(i)}});
  Plan plan;
  EXPECT_TRUE(make_plan(nodes, {}, &plan).ok());
  return plan;
}

// Calls of 8 MB, one after the other, until it wants a renewal; how many, at most 1000.
int calls_until_wanted(RenewalPolicy& policy, const Plan& plan, double seconds, double* now) {
  for (int calls = 1; calls <= 1000; ++calls) {
    *now += seconds;
    policy.on_call(plan, 8 * mb, seconds, *now);
    if (policy.wants_renewal()) return calls;
  }
  return 1000;
}

TEST(RenewalPolicyTest, UnknownRatesAreMeasuredOnceCallsHaveTakenATenthOfASecond) {
  RenewalPolicy policy({});
  double now = 0;
  EXPECT_EQ(calls_until_wanted(policy, plan_of({0, 0, 0, 0}), 0.03, &now), 4);
}

TEST(RenewalPolicyTest, KnownRatesAreLeftAloneWhileCallsTakeWhatThePlanSays) {
  const Plan plan = plan_of({12.5 * mb, 12.5 * mb, 12.5 * mb, 12.5 * mb});
  RenewalPolicy policy({});
  double now = 0;
  EXPECT_EQ(calls_until_wanted(policy, plan, plan.predicted_seconds(8 * mb) * 1.05, &now), 1000);
}

TEST(RenewalPolicyTest, TwoSlowCallsInARowAreEnough) {
  const Plan plan = plan_of({12.5 * mb, 12.5 * mb, 12.5 * mb, 12.5 * mb});
  RenewalPolicy policy({});
  double now = 0;
  const double predicted = plan.predicted_seconds(8 * mb);
  policy.on_call(plan, 8 * mb, 2 * predicted, now);
  policy.on_call(plan, 8 * mb, predicted, now);
  EXPECT_FALSE(policy.wants_renewal());
  EXPECT_EQ(calls_until_wanted(policy, plan, 2 * predicted, &now), 2);
}

TEST(RenewalPolicyTest, WhereNothingNewIsFoundItIsLookedForLessAndLessOften) {
  const Plan plan = plan_of({12.5 * mb, 12.5 * mb, 12.5 * mb, 12.5 * mb});
  RenewalPolicy policy({});
  double now = 0;
  const double slow = 2 * plan.predicted_seconds(8 * mb);
  double before = 0;
  for (int round = 0; round < 5; ++round) {
    calls_until_wanted(policy, plan, slow, &now);
    EXPECT_GT(now - before, round == 0 ? 0 : 0.9 * (1 << (round - 1)));
    policy.on_renewed(false, 0.1, now);
    EXPECT_FALSE(policy.wants_renewal());
    before = now;
  }
}

TEST(RenewalPolicyTest, ASlowerLinkIsMeasuredAgainNowAndThenForItMayHaveRecovered) {
  const Plan plan = plan_of({12.5 * mb, 12.5 * mb, 12.5 * mb, 3 * mb});
  RenewalPolicy policy({});
  double now = 0;
  policy.on_renewed(true, 0.1, now);
  const double seconds = plan.predicted_seconds(8 * mb);
  const int calls = calls_until_wanted(policy, plan, seconds, &now);
  EXPECT_NEAR(calls * seconds, 10, 1);  // measuring takes a hundredth of the time at most
}

}  // namespace
}  // namespace hps
