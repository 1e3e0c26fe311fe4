// SPDX-License-Identifier: BSD-3-Clause
// The command line of hps_perf. Parsing is pure and strict: what is not understood is an error, never a default.
#ifndef HPS_PROGRAMS_PERF_OPTIONS_H
#define HPS_PROGRAMS_PERF_OPTIONS_H

#include <cstdint>
#include <string>
#include <vector>

#include "util/status.h"
#include "util/types.h"

namespace hps::perf {

enum class Action { measure, help, version, list };

struct Options {
  Action action = Action::measure;
  std::uint64_t min_bytes = 8;
  std::uint64_t max_bytes = 32u << 20;
  std::uint64_t factor = 2;
  std::uint32_t iterations = 20;
  std::uint32_t warmup = 5;
  Datatype datatype = Datatype::float32;
  Op op = Op::sum;
  bool in_place = false;
  bool check = true;
  bool vs_mpi = false;
  bool predict = false;
  std::uint32_t skew_ms = 0;  // workers enter a call up to so long after each other; 0 = calls run back to back
  std::uint32_t groups = 1;   // communicators of workers that call at the same time
  double link_rate = 0;       // bytes a second; 0 = not given
  std::string json_file;
  bool operator==(const Options&) const = default;
};

// Arguments without the program's name: "allreduce_hetero" and flags in any order, "-b 64K", "--min-bytes 64K" or
// "--min-bytes=64K". The last of equal flags counts. Help, version and
// list win over everything but an error before them.
// Errors: invalid_argument, naming the argument, its value and what would be right.
Status parse_options(const std::vector<std::string>& arguments, Options* options);

// What --help shows.
std::string help_text();

// What --list shows: a line for each type, "float32: sum prod min max".
std::string list_text();

// The element counts to measure: from min_bytes to max_bytes by factor, in whole elements (rounded down).
std::vector<std::uint64_t> element_counts(const Options& options);

}  // namespace hps::perf

#endif
