// SPDX-License-Identifier: BSD-3-Clause
#include "perf/result.h"

#include <string_view>

#include "plan/shares.h"

namespace hps::perf {
namespace {

double bound_factor(int n, int k) {
  return equal_bound_factor(static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(k));
}

// Groups on nodes of their own share the links of the CPU-only nodes alone.
double bound_at_rate(const Options& options, const Setting& setting, std::uint64_t bytes) {
  const std::vector<double> workers(static_cast<std::size_t>(setting.n), options.link_rate);
  const std::vector<double> cpu_only(static_cast<std::size_t>(setting.k), options.link_rate / options.groups);
  double seconds = 0;
  static_cast<void>(bound_seconds(static_cast<double>(bytes), workers, cpu_only, &seconds));  // rates are positive
  return seconds;
}

// A rate that the user gives holds for every link and overrides what the plan knows. One worker node has no bound: it
// needs no network.
std::optional<double> bound_us(const Options& options, const Setting& setting, std::uint64_t bytes) {
  if (setting.n < 2) return std::nullopt;
  if (options.link_rate > 0) return bound_at_rate(options, setting, bytes) * 1e6;
  if (setting.bound_s < 0) return std::nullopt;
  return setting.bound_s * 1e6;
}

}  // namespace

std::vector<Prediction> predict(const Result& result) {
  std::vector<Prediction> predictions;
  if (result.n < 3 || std::string_view(result.algorithm) != "direct") return predictions;
  for (int k = result.k + 1; k <= result.n; ++k) {
    const double speedup = bound_factor(result.n, result.k) / bound_factor(result.n, k);
    predictions.push_back({k, result.time.median_us / speedup, speedup});
  }
  return predictions;
}

double direct_wire_bytes(double bytes, int n, const std::vector<double>& shares) {
  double total = 0;
  for (std::size_t node = 0; node < shares.size(); ++node) {
    const bool is_worker = node < static_cast<std::size_t>(n);
    const int senders = is_worker ? n - 1 : n;
    total += 2 * senders * shares[node] * bytes;
  }
  return total;
}

Result make_result(const Options& options, const Setting& setting, std::uint64_t bytes, const Samples& samples) {
  Result result;
  result.algorithm = setting.ranks == 1 ? "local_copy" : setting.algorithm;
  result.n = setting.n;
  result.k = setting.k;
  result.ranks = setting.ranks;
  if (options.groups > 1) result.group = setting.group;
  result.bytes = bytes;
  result.datatype = options.datatype;
  result.op = options.op;
  result.iterations = options.iterations;
  result.time = summarize(samples.hps_us);
  result.mean_us = samples.hps_mean_us;
  result.algbw_GBps = static_cast<double>(bytes) / result.time.median_us * 1e-3;
  result.bound_us = bound_us(options, setting, bytes);
  if (result.bound_us) result.percent_of_bound = *result.bound_us / result.time.median_us * 100;
  const double wire_bytes = direct_wire_bytes(static_cast<double>(bytes), setting.n, setting.shares);
  if (std::string_view(result.algorithm) == "direct" && wire_bytes > 0)
    result.cpu_ns_per_wire_byte = samples.cpu_s * 1e9 / wire_bytes;
  if (!samples.mpi_us.empty()) {
    result.mpi_time_us = summarize(samples.mpi_us).median_us;
    result.speedup_vs_mpi = *result.mpi_time_us / result.time.median_us;
  }
  if (options.check) result.wrong = samples.wrong;
  return result;
}

}  // namespace hps::perf
