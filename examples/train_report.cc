// SPDX-License-Identifier: BSD-3-Clause
//
// Times are reduced step by step before the median is taken, because a step lasts as long as on its slowest rank.
#include "train_report.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace example {
namespace {

// On rank 0, sorted: of each step the largest of all ranks' seconds.
std::vector<double> slowest(const std::vector<double>& seconds, MPI_Comm comm) {
  std::vector<double> largest(seconds.size());
  MPI_Reduce(seconds.data(), largest.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX, 0, comm);
  std::sort(largest.begin(), largest.end());
  return largest;
}

double median(const std::vector<double>& sorted) {
  return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
}

std::uint64_t hash_bytes(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  return hash;
}

}  // namespace

void print_progress(std::size_t step, std::size_t steps, double loss, double step_s) {
  const std::size_t interval = std::max<std::size_t>(1, steps / 10);
  if (step % interval != 0 && step != steps) return;
  std::printf("step %zu of %zu  loss %.4f  %.3f s a step\n", step, steps, loss, step_s);
  std::fflush(stdout);
}

void gather_times(const StepTimes& times, MPI_Comm comm, TrainReport* report) {
  const std::vector<double> step = slowest(times.step, comm);
  const std::vector<double> communication = slowest(times.communication, comm);
  report->step_s = median(step);
  report->communication_s = median(communication);
  report->communication_min_s = communication.front();
  report->communication_max_s = communication.back();
}

void compare_weights(std::span<const float> weights, MPI_Comm comm, TrainReport* report) {
  const std::uint64_t hash = hash_bytes(std::as_bytes(weights));
  std::uint64_t least = 0, largest = 0;
  MPI_Allreduce(&hash, &least, 1, MPI_UINT64_T, MPI_MIN, comm);
  MPI_Allreduce(&hash, &largest, 1, MPI_UINT64_T, MPI_MAX, comm);
  report->weights_hash = hash;
  report->weights_agree = least == largest;
}

void print_report(const TrainReport& report) {
  std::printf("%s: %d worker ranks, %d CPU-only nodes, %zu bytes a step: step %.4f s, all-reduce %.4f s (medians)\n",
              report.allreduce.c_str(), report.worker_ranks, report.cpu_only_nodes, report.bytes, report.step_s,
              report.communication_s);
  std::printf("test accuracy %.2f %%, weights %016llx, %s\n", 100 * report.test_accuracy,
              static_cast<unsigned long long>(report.weights_hash),
              report.weights_agree ? "the same on every rank" : "NOT the same on every rank");
}

std::string write_json(const TrainReport& report, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return "cannot write '" + path + "': " + std::strerror(errno);
  std::fprintf(file, "{\"allreduce\":\"%s\",\"ranks\":%d,\"n\":%d,\"k\":%d,\"bytes\":%zu,\"steps\":%zu,\"batch\":%zu,",
               report.allreduce.c_str(), report.worker_ranks, report.worker_nodes, report.cpu_only_nodes, report.bytes,
               report.steps, report.batch);
  std::fprintf(file, "\"step_s\":%.6f,\"comm_s\":%.6f,\"comm_min_s\":%.6f,\"comm_max_s\":%.6f,", report.step_s,
               report.communication_s, report.communication_min_s, report.communication_max_s);
  std::fprintf(file, "\"loss\":%.6f,\"test_accuracy\":%.6f,\"weights_fnv1a\":\"%016llx\",\"weights_agree\":%s}\n",
               report.loss, report.test_accuracy, static_cast<unsigned long long>(report.weights_hash),
               report.weights_agree ? "true" : "false");
  const bool failed = std::ferror(file) != 0;
  return std::fclose(file) != 0 || failed ? "cannot write '" + path + "'" : "";
}

}  // namespace example
