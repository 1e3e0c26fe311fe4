// SPDX-License-Identifier: BSD-3-Clause
#include "perf/measure.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <thread>

#include "common/mpi_program.h"
#include "hps.h"
#include "perf/mpi_types.h"

namespace hps::perf {
namespace {

constexpr std::uint64_t batch_bytes = 64u << 20;
constexpr std::size_t run_in_bytes = 1u << 20;
// How many different shifts there are. Each moves the message by one cache line, so that its alignment stays.
constexpr std::uint32_t shifts = 32;
constexpr std::size_t line_bytes = 64;

// CPU time of this process, all threads: HPS works in threads of its own as well.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

}  // namespace

Meter::Meter(MPI_Comm workers, const Options& options)
    : comm_(workers),
      options_(options),
      element_bytes_(datatype_bytes(options.datatype)),
      datatype_(mpi_datatype(options.datatype)),
      op_(mpi_op(options.op)),
      pattern_(options.datatype, options.op, static_cast<std::uint32_t>(size_of(workers)),
               static_cast<std::uint32_t>(rank_in(workers))) {
  contenders_.push_back({"HPS_Allreduce_hetero", HPS_Allreduce_hetero});
  if (options.vs_mpi) contenders_.push_back({"MPI_Allreduce", MPI_Allreduce});
}

std::size_t Meter::slot_lines() const { return (count_ * element_bytes_ + line_bytes - 1) / line_bytes; }

std::byte* Meter::slot(Contender& contender, std::uint32_t index) const {
  return contender.slots[index * slot_lines()].bytes;
}

std::uint64_t Meter::shift(std::uint32_t slot) const { return slot % shifts * (line_bytes / element_bytes_); }

Samples Meter::measure(std::uint64_t count) {
  count_ = count;
  wrong_ = 0;
  const std::uint64_t fit = std::max<std::uint64_t>(1, batch_bytes / (slot_lines() * line_bytes));
  batch_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(fit, std::max(options_.iterations, options_.warmup)));
  if (!options_.in_place) {
    send_.assign(slot_lines() + shifts, Line{});
    pattern_.fill(send_.data(), count + shift(shifts - 1), 0);
  }
  for (Contender& contender : contenders_) contender.slots.assign(batch_ * slot_lines(), Line{});
  run(options_.warmup);
  forget_times();
  run(options_.iterations);
  return reduce();
}

void Meter::run(std::uint32_t calls) {
  for (std::uint32_t done = 0; done < calls; done += batch_) run_batch(std::min(batch_, calls - done));
}

void Meter::run_batch(std::uint32_t calls) {
  for (Contender& contender : contenders_) prepare_slots(contender, calls);
  run_in();
  for (std::uint32_t i = 0; i < calls; ++i) {
    for (Contender& contender : contenders_) time_call(contender, i);
  }
  // MPI's results are not looked at: for 8-bit integers libraries differ in what they do on overflow.
  if (options_.check) wrong_ += count_wrong(contenders_.front(), calls);
}

void Meter::run_in() {
  const std::vector<Line> zeros(run_in_bytes / line_bytes);
  std::vector<Line> result(zeros.size());
  const int count = static_cast<int>(run_in_bytes / element_bytes_);
  must("HPS_Allreduce_hetero", HPS_Allreduce_hetero(zeros.data(), result.data(), count, datatype_, op_, comm_));
}

// In place a slot holds this rank's contribution, else bytes that no call would leave there.
void Meter::prepare_slots(Contender& contender, std::uint32_t calls) const {
  for (std::uint32_t i = 0; i < calls; ++i) {
    if (options_.in_place) {
      pattern_.fill(slot(contender, i), count_, shift(i));
    } else {
      std::memset(slot(contender, i), 0x5a, count_ * element_bytes_);
    }
  }
}

void Meter::time_call(Contender& contender, std::uint32_t index) {
  const void* send = MPI_IN_PLACE;
  if (!options_.in_place) send = send_[index % shifts].bytes;
  void* receive = slot(contender, index);
  const double origin = wait_for_turn(index);
  const double cpu_start = cpu_seconds();
  const double start = MPI_Wtime();
  const int error = contender.call(send, receive, static_cast<int>(count_), datatype_, op_, comm_);
  const double end = MPI_Wtime();
  const double cpu_end = cpu_seconds();
  must(contender.name, error);
  contender.times_us.push_back((end - (options_.skew_ms > 0 ? origin : start)) * 1e6);
  contender.entered_us.push_back((start - origin) * 1e6);
  contender.cpu_s += cpu_end - cpu_start;
}

// Returns the time of the barrier; without a skew there is none to wait for, and it is now.
double Meter::wait_for_turn(std::uint32_t index) const {
  if (options_.skew_ms == 0) return MPI_Wtime();
  must("MPI_Barrier", MPI_Barrier(comm_));
  const double origin = MPI_Wtime();
  const int size = size_of(comm_);
  const double turn = (rank_in(comm_) + static_cast<int>(index)) % size;
  const double wait_s = size > 1 ? 1e-3 * options_.skew_ms * turn / (size - 1) : 0;
  std::this_thread::sleep_for(std::chrono::duration<double>(origin + wait_s - MPI_Wtime()));
  return origin;
}

std::uint64_t Meter::count_wrong(const Contender& contender, std::uint32_t calls) const {
  std::uint64_t wrong = 0;
  for (std::uint32_t i = 0; i < calls; ++i) {
    wrong += pattern_.count_wrong(contender.slots[i * slot_lines()].bytes, count_, shift(i));
  }
  return wrong;
}

void Meter::forget_times() {
  for (Contender& contender : contenders_) {
    contender.times_us.clear();
    contender.entered_us.clear();
    contender.cpu_s = 0;
  }
}

std::vector<double> Meter::slowest(const std::vector<double>& own_us) const {
  std::vector<double> slowest_us(own_us.size());
  must("MPI_Allreduce",
       MPI_Allreduce(own_us.data(), slowest_us.data(), static_cast<int>(own_us.size()), MPI_DOUBLE, MPI_MAX, comm_));
  return slowest_us;
}

Samples Meter::reduce() {
  Samples samples;
  const double calls = options_.iterations;
  const double cpu = contenders_.front().cpu_s / calls;
  must("MPI_Allreduce", MPI_Allreduce(&cpu, &samples.cpu_s, 1, MPI_DOUBLE, MPI_SUM, comm_));
  must("MPI_Allreduce", MPI_Allreduce(&wrong_, &samples.wrong, 1, MPI_UINT64_T, MPI_SUM, comm_));
  for (const Contender& contender : contenders_) {
    std::vector<double>& times_us = &contender == &contenders_.front() ? samples.hps_us : samples.mpi_us;
    times_us = slowest(contender.times_us);
    if (options_.skew_ms == 0) continue;
    const std::vector<double> last_us = slowest(contender.entered_us);
    for (std::size_t i = 0; i < times_us.size(); ++i) times_us[i] -= last_us[i];
  }
  // Back to back, a rank's own times add up to what the run took; calls apart have nothing between them to add.
  const std::vector<double>& summed_us = options_.skew_ms > 0 ? samples.hps_us : contenders_.front().times_us;
  samples.hps_mean_us = slowest({sum_of(summed_us) / calls}).front();
  forget_times();
  return samples;
}

}  // namespace hps::perf
