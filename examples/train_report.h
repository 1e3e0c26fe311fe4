// SPDX-License-Identifier: BSD-3-Clause
//
// What train tells about a run: progress while it goes on, times and accuracy when it is done.
#ifndef EXAMPLES_TRAIN_REPORT_H
#define EXAMPLES_TRAIN_REPORT_H

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace example {

// This rank's seconds, an entry a step.
struct StepTimes {
  std::vector<double> step;           // the whole step
  std::vector<double> communication;  // its all-reduce, from a barrier on
};

struct TrainReport {
  std::string allreduce;  // "hps" or "mpi"
  int worker_ranks = 0;
  int worker_nodes = 0;    // n, 0 where it was not asked (MPI)
  int cpu_only_nodes = 0;  // k
  std::size_t bytes = 0;   // of one all-reduce
  std::size_t steps = 0;
  std::size_t batch = 0;
  double step_s = 0;  // medians over the steps of the slowest rank's time
  double communication_s = 0;
  double communication_min_s = 0;
  double communication_max_s = 0;
  double loss = 0;  // mean over the last batch
  double test_accuracy = 0;
  std::uint64_t weights_hash = 0;
  bool weights_agree = false;  // every rank has the same hash
};

// Prints how far the run is, about ten times a run.
void print_progress(std::size_t step, std::size_t steps, double loss, double step_s);

// Sets the times on rank 0: of each step the slowest rank's. Collective.
void gather_times(const StepTimes& times, MPI_Comm comm, TrainReport* report);

// Sets weights_hash (64-bit FNV-1a over the bytes) and weights_agree, on every rank. Collective.
void compare_weights(std::span<const float> weights, MPI_Comm comm, TrainReport* report);

void print_report(const TrainReport& report);

// Returns an empty string, or why the file could not be written.
[[nodiscard]] std::string write_json(const TrainReport& report, const std::string& path);

}  // namespace example

#endif  // EXAMPLES_TRAIN_REPORT_H
