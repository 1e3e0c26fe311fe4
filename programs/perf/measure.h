// SPDX-License-Identifier: BSD-3-Clause
// Meter: times calls and checks what they return.
//
// Calls run back to back, as in a program that waits for its network: a pause would refill the token bucket of an
// emulated or shaped link, and the next calls would be partly free. So results are not checked between calls. A batch
// of calls writes into buffers of its own, up to 64 MB of them, and is checked after it. Before each batch one call of
// 1 MB, not measured, empties the bucket again and brings the ranks together. Messages larger than that are checked one
// by one; what a bucket can give away is then small against the message (128 KB of 64 MB: 0.2 %).
//
// With a skew calls do not run back to back: before each the workers meet in a barrier, then each waits for its turn to
// enter, the last one for the whole skew. Another worker is last each time. The time of such a call is from the moment
// when the last worker entered to that when the last one left.
#ifndef HPS_PROGRAMS_PERF_MEASURE_H
#define HPS_PROGRAMS_PERF_MEASURE_H

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "perf/options.h"
#include "perf/pattern.h"
#include "perf/timing.h"

namespace hps::perf {

class Meter {
 public:
  // Collective over `workers`, as measure() is. Any error of HPS or MPI ends the job.
  Meter(MPI_Comm workers, const Options& options);

  // Warms up and measures messages of `count` elements.
  Samples measure(std::uint64_t count);

 private:
  // MPI's and HPS's calls have the same shape.
  using Allreduce = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  struct Contender {
    const char* name;
    Allreduce call;
    std::vector<Line> slots{};  // a receive buffer for each call of a batch
    // This rank's, of the calls measured so far; with a skew counted from the barrier, and when it entered.
    std::vector<double> times_us{};
    std::vector<double> entered_us{};
    double cpu_s = 0;
  };

  void run(std::uint32_t calls);
  void run_batch(std::uint32_t calls);
  void run_in();
  void prepare_slots(Contender& contender, std::uint32_t calls) const;
  void time_call(Contender& contender, std::uint32_t slot);
  double wait_for_turn(std::uint32_t slot) const;
  std::vector<double> slowest(const std::vector<double>& own_us) const;
  std::uint64_t count_wrong(const Contender& contender, std::uint32_t calls) const;
  void forget_times();
  Samples reduce();

  std::size_t slot_lines() const;
  std::byte* slot(Contender& contender, std::uint32_t index) const;
  std::uint64_t shift(std::uint32_t slot) const;

  MPI_Comm comm_;
  Options options_;
  std::size_t element_bytes_;
  MPI_Datatype datatype_;
  MPI_Op op_;
  Pattern pattern_;
  std::vector<Contender> contenders_;  // HPS first
  std::uint64_t count_ = 0;
  std::uint32_t batch_ = 1;  // the most calls of a batch
  std::vector<Line> send_;   // the pattern from shift 0 to the end of the largest shift's message
  std::uint64_t wrong_ = 0;
};

}  // namespace hps::perf

#endif
