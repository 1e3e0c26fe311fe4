// SPDX-License-Identifier: BSD-3-Clause
// Result: one line of hps_perf, derived from the samples of a message size. Pure.
#ifndef HPS_PROGRAMS_PERF_RESULT_H
#define HPS_PROGRAMS_PERF_RESULT_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "perf/options.h"
#include "perf/timing.h"
#include "util/types.h"

namespace hps::perf {

// What HPS_Comm_get_plan says about the communicator and the message.
struct Setting {
  int n = 0;                   // worker nodes
  int k = 0;                   // CPU-only nodes
  int ranks = 0;               // worker ranks
  const char* algorithm = "";  // its name in coll/algorithms.def
  double bound_s = -1;         // by the rates that the plan knows; negative = unknown
  std::vector<double> shares;  // n worker nodes, then k CPU-only nodes
  int group = 0;               // of --groups
};

// Figures that are not known, or that nobody asked for, are absent.
struct Result {
  const char* algorithm = "";
  int n = 0;
  int k = 0;
  int ranks = 0;
  std::optional<int> group;  // which of --groups, where there is more than one
  std::uint64_t bytes = 0;
  Datatype datatype = Datatype::float32;
  Op op = Op::sum;
  std::uint32_t iterations = 0;
  Timing time;
  double mean_us = 0;
  double algbw_GBps = 0;  // bytes / time
  std::optional<double> bound_us;
  std::optional<double> percent_of_bound;
  std::optional<double> cpu_ns_per_wire_byte;  // the workers' CPU time for each byte that crosses the network
  std::optional<double> mpi_time_us;
  std::optional<double> speedup_vs_mpi;
  std::optional<std::uint64_t> wrong;
};

Result make_result(const Options& options, const Setting& setting, std::uint64_t bytes, const Samples& samples);

// What a job with other CPU-only nodes would take.
struct Prediction {
  int k = 0;
  double time_us = 0;
  double speedup = 1;  // over what was measured
};

// For each number of CPU-only nodes from one more than there are to as many as there are worker nodes, beyond which
// more bring nothing: the part of the bound that was reached is reached there too, over links like these. Empty where
// none would help: with fewer than 3 worker nodes, and for messages that do not go to owners of chunks.
std::vector<Prediction> predict(const Result& result);

// The bytes that all nodes together send for one message when every contribution goes straight to its owner and the
// result straight back.
double direct_wire_bytes(double bytes, int n, const std::vector<double>& shares);

}  // namespace hps::perf

#endif
