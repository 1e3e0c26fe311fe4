// SPDX-License-Identifier: BSD-3-Clause
// From the times of single calls to the figures that are published. A call of all ranks takes as long as it takes the
// slowest of them, so every time here is already the maximum over ranks.
#ifndef HPS_PROGRAMS_PERF_TIMING_H
#define HPS_PROGRAMS_PERF_TIMING_H

#include <cstdint>
#include <vector>

namespace hps::perf {

// What one message size gave, the same on every rank.
struct Samples {
  std::vector<double> hps_us;  // one a measured call: the slowest rank's time
  std::vector<double> mpi_us;  // the same for MPI_Allreduce; empty where it is not measured
  double hps_mean_us = 0;      // mean over the calls, on the rank where it is largest
  double cpu_s = 0;            // CPU time of one HPS call, summed over the worker processes
  std::uint64_t wrong = 0;     // wrong elements over all calls and ranks, warm-up included
};

struct Timing {
  double median_us = 0;
  double min_us = 0;
  double max_us = 0;
};

// At least one time. The median of an even number of times is the mean of the two in the middle.
Timing summarize(std::vector<double> times_us);

}  // namespace hps::perf

#endif
