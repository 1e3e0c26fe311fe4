// SPDX-License-Identifier: BSD-3-Clause
// The plan in one sentence, for the log.
#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "plan/rates.h"
#include "plan/shares.h"

namespace hps {
namespace {

// std::to_chars, because printf would write the decimal comma of the user's locale.
std::string to_text(double value, std::chars_format format, int precision) {
  std::array<char, 64> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value, format, precision);
  return error == std::errc() ? std::string(text.data(), end) : std::string("?");
}

std::string percent(double share) { return to_text(100 * share, std::chars_format::fixed, 1); }

// "15.9 % on each CPU-only node", or "9.1 to 15.9 % on CPU-only nodes".
std::string shares_on(const char* kind, std::vector<double> shares) {
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  const std::string low = percent(*least);
  const std::string high = percent(*most);
  if (low == high) return low + " % on each " + kind + " node";
  return low + " to " + high + " % on " + kind + " nodes";
}

// How many times faster than all-reduce over the same workers, without CPU-only nodes.
double gain(const Plan& plan) {
  const Rates rates = rates_of(plan.nodes);
  double with = 0;
  double without = 0;
  if (bound_seconds(1, rates.worker, rates.cpu_only, &with).ok() && bound_seconds(1, rates.worker, {}, &without).ok()) {
    return without / with;
  }
  return equal_bound_factor(plan.n, 0) / equal_bound_factor(plan.n, plan.k);
}

}  // namespace

std::string Plan::describe() const {
  const std::string who =
      "n=" + std::to_string(n) + (n == 1 ? " worker" : " workers") + ", k=" + std::to_string(k) + " CPU-only: ";
  if (n == 1) return who + "one worker node, so no network to wait for";
  std::vector<double> worker;
  std::vector<double> cpu_only;
  for (const PlanNodeShare& node : nodes) (node.cpu_only ? cpu_only : worker).push_back(node.share);
  const std::string on_workers = shares_on("worker", worker);
  if (k == 0) return who + on_workers;
  if (n == 2) return who + on_workers + "; two worker nodes gain nothing from CPU-only nodes";
  return who + shares_on("CPU-only", cpu_only) + ", " + on_workers + "; " +
         to_text(gain(*this), std::chars_format::general, 4) + "x over all-reduce";
}

}  // namespace hps
