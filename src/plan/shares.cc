// SPDX-License-Identifier: BSD-3-Clause
// All of it is computed with rates in units of the slowest worker's, so that no unit, however odd, overflows.
#include "plan/shares.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

namespace hps {
namespace {

// D of the header's formulas. Doubles hold it exactly up to n of some 10^7.
double equal_denominator(double n, double k) { return n * n + k * n - 2 * k; }

Status check_rates(const char* kind, const std::vector<double>& rates) {
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (std::isfinite(rates[i]) && rates[i] > 0) continue;
    return Status(Code::invalid_argument, std::string("the bandwidth of ") + kind + " node " + std::to_string(i) +
                                              " is " + std::to_string(rates[i]) + "; it must be positive and finite");
  }
  return Status();
}

Status check_rates(const std::vector<double>& worker_rate, const std::vector<double>& cpu_only_rate) {
  if (worker_rate.empty()) return Status(Code::invalid_argument, "there is no worker node");
  HPS_RETURN_IF_ERROR(check_rates("worker", worker_rate));
  return check_rates("CPU-only", cpu_only_rate);
}

// Rates in units of `slowest`. Beyond `fastest` units it makes no difference to the time how fast a node is, and sums
// stay finite.
std::vector<double> in_units_of(double slowest, const std::vector<double>& rates) {
  static constexpr double fastest = 1e100;
  std::vector<double> units;
  units.reserve(rates.size());
  for (const double rate : rates) units.push_back(std::min(rate / slowest, fastest));
  return units;
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// T in units of M / min B_i, for rates in units of min B_i.
double bound_in_units(const std::vector<double>& worker, const std::vector<double>& cpu_only) {
  const double n = static_cast<double>(worker.size());
  if (n < 2) return 0;
  if (n == 2) return 1;
  return std::max(1.0, 2 * n * (n - 1) / (n * sum(worker) + (n - 2) * sum(cpu_only)));
}

}  // namespace

Shares equal_shares(std::uint32_t n, std::uint32_t k) {
  assert(n >= 1);
  double worker = 0;
  double cpu_only = 0;
  if (n <= 2 || k == 0) {
    worker = 1.0 / n;
  } else if (k >= n) {
    cpu_only = 1.0 / k;
  } else {
    const double denominator = equal_denominator(n, k);
    worker = (n - k) / denominator;
    cpu_only = 2.0 * (n - 1) / denominator;
  }
  return {std::vector<double>(n, worker), std::vector<double>(k, cpu_only)};
}

double equal_bound_factor(std::uint32_t n, std::uint32_t k) {
  assert(n >= 1);
  if (n == 1) return 0;
  if (n == 2 || k >= n) return 1;
  return 2.0 * n * (n - 1.0) / equal_denominator(n, k);
}

Status shares_by_bandwidth(const std::vector<double>& worker_rate, const std::vector<double>& cpu_only_rate,
                           Shares* shares) {
  HPS_RETURN_IF_ERROR(check_rates(worker_rate, cpu_only_rate));
  if (worker_rate.size() <= 2) {
    *shares =
        equal_shares(static_cast<std::uint32_t>(worker_rate.size()), static_cast<std::uint32_t>(cpu_only_rate.size()));
    return Status();
  }
  const double slowest = *std::min_element(worker_rate.begin(), worker_rate.end());
  Shares result{in_units_of(slowest, worker_rate), in_units_of(slowest, cpu_only_rate)};
  const double time = bound_in_units(result.worker, result.cpu_only);
  const double n = static_cast<double>(worker_rate.size());
  // What each node can carry in that time. No worker's part is negative, as time >= 1, but for rounding.
  for (double& part : result.worker) part = std::max(0.0, (part * time - 1) / (n - 2));
  for (double& part : result.cpu_only) part = part * time / n;
  // Together that is the whole vector, or more where the slowest worker's own traffic is the bound: scaling down then
  // leaves every node but that worker some of its link.
  const double whole = sum(result.worker) + sum(result.cpu_only);
  for (double& part : result.worker) part /= whole;
  for (double& part : result.cpu_only) part /= whole;
  *shares = std::move(result);
  return Status();
}

Status bound_seconds(double bytes, const std::vector<double>& worker_rate, const std::vector<double>& cpu_only_rate,
                     double* seconds) {
  HPS_RETURN_IF_ERROR(check_rates(worker_rate, cpu_only_rate));
  const double slowest = *std::min_element(worker_rate.begin(), worker_rate.end());
  const double units = bound_in_units(in_units_of(slowest, worker_rate), in_units_of(slowest, cpu_only_rate));
  *seconds = units * (bytes / slowest);
  return Status();
}

double seconds_of_shares(double bytes, const Shares& shares, const std::vector<double>& worker_rate,
                         const std::vector<double>& cpu_only_rate) {
  assert(shares.worker.size() == worker_rate.size() && shares.cpu_only.size() == cpu_only_rate.size());
  const double n = static_cast<double>(worker_rate.size());
  double busiest = 0;
  for (std::size_t i = 0; i < worker_rate.size(); ++i) {
    busiest = std::max(busiest, (1 + (n - 2) * shares.worker[i]) * bytes / worker_rate[i]);
  }
  for (std::size_t j = 0; j < cpu_only_rate.size(); ++j) {
    busiest = std::max(busiest, n * shares.cpu_only[j] * bytes / cpu_only_rate[j]);
  }
  return busiest;
}

}  // namespace hps
