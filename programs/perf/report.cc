// SPDX-License-Identifier: BSD-3-Clause
#include "perf/report.h"

#include <cstdio>

#include "common/json.h"
#include "util/units.h"

namespace hps::perf {
namespace {

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

std::string number_or_dash(const char* pattern, const std::optional<double>& value) {
  return value ? format(pattern, *value) : "-";
}

std::string count_or(const char* absent, const std::optional<std::uint64_t>& value) {
  return value ? std::to_string(*value) : absent;
}

}  // namespace

std::string table_head(const std::string& versions, const Options& options, const Setting& setting) {
  std::string text = "# " + versions + "\n";
  text += format("# allreduce_hetero, %s %s%s, %u calls after %u to warm up, ", datatype_name(options.datatype),
                 op_name(options.op), options.in_place ? " in place" : "", options.iterations, options.warmup);
  if (options.skew_ms > 0)
    text += format("workers enter over %u ms; time is from the last one's entering\n", options.skew_ms);
  else
    text += "back to back; time is that of the slowest rank\n";
  if (options.groups > 1) text += format("# %u groups at once, each of\n", options.groups);
  text += format("# n=%d worker nodes (%d ranks), k=%d CPU-only nodes", setting.n, setting.ranks, setting.k);
  if (options.link_rate > 0) text += ", links of " + format_rate(options.link_rate);
  text += format("\n#%11s %12s %12s %12s %12s %11s %12s %7s %8s", "bytes", "median_us", "mean_us", "min_us", "max_us",
                 "algbw_GBps", "bound_us", "%bound", "cpu_ns/B");
  if (options.vs_mpi) text += format(" %12s %8s", "mpi_us", "speedup");
  return text + format(" %8s  algorithm%s\n", "wrong", options.groups > 1 ? ", group" : "");
}

std::string table_line(const Options& options, const Result& result) {
  std::string text =
      format("%12llu %12.1f %12.1f %12.1f %12.1f %11.5f %12s %7s %8s", static_cast<unsigned long long>(result.bytes),
             result.time.median_us, result.mean_us, result.time.min_us, result.time.max_us, result.algbw_GBps,
             number_or_dash("%.1f", result.bound_us).c_str(), number_or_dash("%.1f", result.percent_of_bound).c_str(),
             number_or_dash("%.2f", result.cpu_ns_per_wire_byte).c_str());
  if (options.vs_mpi) {
    text += format(" %12s %8s", number_or_dash("%.1f", result.mpi_time_us).c_str(),
                   number_or_dash("%.2f", result.speedup_vs_mpi).c_str());
  }
  text += format(" %8s  %s", count_or("-", result.wrong).c_str(), result.algorithm);
  if (result.group) text += format(", %d", *result.group);
  return text + "\n";
}

std::string prediction_lines(const Result& result) {
  const std::vector<Prediction> predictions = predict(result);
  if (predictions.empty()) return "#   more CPU-only nodes would bring nothing\n";
  std::string text;
  for (const Prediction& one : predictions)
    text += format("#   k=%d would take %.1f us, %.2f times as fast\n", one.k, one.time_us, one.speedup);
  return text;
}

std::string json_line(const Result& result) {
  JsonObject object;
  object.add("collective", json_string("allreduce_hetero"))
      .add("algorithm", json_string(result.algorithm))
      .add("n", std::to_string(result.n))
      .add("k", std::to_string(result.k))
      .add("ranks", std::to_string(result.ranks))
      .add("bytes", std::to_string(result.bytes))
      .add("datatype", json_string(datatype_name(result.datatype)))
      .add("op", json_string(op_name(result.op)))
      .add("iterations", std::to_string(result.iterations))
      .add("time_us", json_number(result.time.median_us, 3))
      .add("time_min_us", json_number(result.time.min_us, 3))
      .add("time_max_us", json_number(result.time.max_us, 3))
      .add("algbw_GBps", json_number(result.algbw_GBps, 6))
      .add("bound_us", json_number(result.bound_us, 3))
      .add("percent_of_bound", json_number(result.percent_of_bound, 2))
      .add("mpi_time_us", json_number(result.mpi_time_us, 3))
      .add("speedup_vs_mpi", json_number(result.speedup_vs_mpi, 4))
      .add("wrong", count_or("null", result.wrong));
  if (result.group) object.add("group", std::to_string(*result.group));
  return object.text();
}

}  // namespace hps::perf
