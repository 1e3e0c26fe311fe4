// SPDX-License-Identifier: BSD-3-Clause
#include "plan/renewal_policy.h"

#include <algorithm>

#include "plan/rates.h"

namespace hps {
namespace {

constexpr double tellable_s = 0.01;     // a shorter call says little about rates
constexpr double slower = 1.15;         // than the plan says: what wrong shares cost where a link is half as fast
constexpr int slow_calls_in_a_row = 2;  // one may have had a neighbour's traffic in its way
constexpr double cost_part = 0.01;      // of the time that measuring may take where it may find nothing new
constexpr double shortest_pause_s = 1;  // after a look that found nothing new; then twice as long, and so on
constexpr double longest_pause_s = 600;

bool links_differ(const Plan& plan) {
  return std::any_of(plan.nodes.begin(), plan.nodes.end(),
                     [&](const PlanNodeShare& node) { return node.rate != plan.nodes.front().rate; });
}

}  // namespace

void RenewalPolicy::on_call(const Plan& plan, double bytes, double seconds, double now_s) {
  spent_s_ += seconds;
  wants_ = options_.always;
  if (wants_ || now_s < not_before_s_) return;
  if (!all_known(plan.nodes)) {
    wants_ = spent_s_ >= options_.worth_it_s;
    return;
  }
  if (seconds >= tellable_s) slow_calls_ = seconds > slower * plan.predicted_seconds(bytes) ? slow_calls_ + 1 : 0;
  const bool may_have_recovered = links_differ(plan) && cost_s_ < cost_part * spent_s_;
  wants_ = slow_calls_ >= slow_calls_in_a_row || may_have_recovered;
}

void RenewalPolicy::on_renewed(bool has_changed, double seconds, double now_s) {
  pause_s_ = has_changed ? 0 : std::clamp(2 * pause_s_, shortest_pause_s, longest_pause_s);
  not_before_s_ = now_s + std::max(pause_s_, seconds);
  cost_s_ = seconds;
  spent_s_ = 0;
  slow_calls_ = 0;
  wants_ = false;
}

}  // namespace hps
