// SPDX-License-Identifier: BSD-3-Clause
#include "perf/report.h"

#include <cstdio>

#include "util/units.h"

namespace hps::perf {
namespace {

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

std::string number_or(const char* absent, const char* pattern, const std::optional<double>& value) {
  return value ? format(pattern, *value) : absent;
}

std::string count_or(const char* absent, const std::optional<std::uint64_t>& value) {
  return value ? std::to_string(*value) : absent;
}

}  // namespace

std::string table_head(const std::string& versions, const Options& options, const Setting& setting) {
  std::string text = "# " + versions + "\n";
  text += format(
      "# allreduce_hetero, %s %s%s, %u calls after %u to warm up, back to back; time is that of the slowest rank\n",
      datatype_name(options.datatype), op_name(options.op), options.in_place ? " in place" : "", options.iterations,
      options.warmup);
  text += format("# n=%d worker nodes (%d ranks), k=%d CPU-only nodes", setting.n, setting.ranks, setting.k);
  if (options.link_rate > 0) text += ", links of " + format_rate(options.link_rate);
  text += format("\n#%11s %12s %12s %12s %12s %11s %12s %7s %8s", "bytes", "median_us", "mean_us", "min_us", "max_us",
                 "algbw_GBps", "bound_us", "%bound", "cpu_ns/B");
  if (options.vs_mpi) text += format(" %12s %8s", "mpi_us", "speedup");
  return text + format(" %8s  algorithm\n", "wrong");
}

std::string table_line(const Options& options, const Result& result) {
  std::string text =
      format("%12llu %12.1f %12.1f %12.1f %12.1f %11.5f %12s %7s %8s", static_cast<unsigned long long>(result.bytes),
             result.time.median_us, result.mean_us, result.time.min_us, result.time.max_us, result.algbw_GBps,
             number_or("-", "%.1f", result.bound_us).c_str(), number_or("-", "%.1f", result.percent_of_bound).c_str(),
             number_or("-", "%.2f", result.cpu_ns_per_wire_byte).c_str());
  if (options.vs_mpi) {
    text += format(" %12s %8s", number_or("-", "%.1f", result.mpi_time_us).c_str(),
                   number_or("-", "%.2f", result.speedup_vs_mpi).c_str());
  }
  return text + format(" %8s  %s\n", count_or("-", result.wrong).c_str(), result.algorithm);
}

std::string json_line(const Result& result) {
  std::string text = format(R"({"collective": "allreduce_hetero", "algorithm": "%s", "n": %d, "k": %d, "ranks": %d, )",
                            result.algorithm, result.n, result.k, result.ranks);
  text += format(R"("bytes": %llu, "datatype": "%s", "op": "%s", "iterations": %u, )",
                 static_cast<unsigned long long>(result.bytes), datatype_name(result.datatype), op_name(result.op),
                 result.iterations);
  text += format(R"("time_us": %.3f, "time_min_us": %.3f, "time_max_us": %.3f, "algbw_GBps": %.6f, )",
                 result.time.median_us, result.time.min_us, result.time.max_us, result.algbw_GBps);
  text += R"("bound_us": )" + number_or("null", "%.3f", result.bound_us);
  text += R"(, "percent_of_bound": )" + number_or("null", "%.2f", result.percent_of_bound);
  text += R"(, "mpi_time_us": )" + number_or("null", "%.3f", result.mpi_time_us);
  text += R"(, "speedup_vs_mpi": )" + number_or("null", "%.4f", result.speedup_vs_mpi);
  return text + R"(, "wrong": )" + count_or("null", result.wrong) + "}";
}

}  // namespace hps::perf
