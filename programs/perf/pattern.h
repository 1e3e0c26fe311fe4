// SPDX-License-Identifier: BSD-3-Clause
// Pattern: what each rank contributes in a measurement, and what must come out, exactly. Numbers are whole and small,
// so that floating-point results do not depend on the order of operations: sums stay below 2^24 up to 2^17 ranks (of
// 16-bit floats below 2^8 up to 2^8 ranks), products are 2 and 3 to small powers. Integers wrap around. Logical values,
// bits and pairs are such that a single rank decides now and then.
//
// Values repeat with a prime period, so filling and checking are copies and comparisons of blocks, about as fast as
// memory, and a check between two batches of calls is short. Every call reads the pattern from another place (its
// shift), so that a result left over from an earlier call is wrong for this one.
#ifndef HPS_PROGRAMS_PERF_PATTERN_H
#define HPS_PROGRAMS_PERF_PATTERN_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/types.h"

namespace hps::perf {

class Pattern {
 public:
  // Prime, so that no chunk, page or cache line falls in step with it.
  static constexpr std::uint64_t period = 251;

  // What rank `rank` of `ranks` contributes. Costs O(period * ranks).
  Pattern(Datatype datatype, Op op, std::uint32_t ranks, std::uint32_t rank);

  // buffer[i] = this rank's contribution to element i of a call with this shift, for i < count.
  void fill(void* buffer, std::uint64_t count, std::uint64_t shift) const;

  // The number of i < count for which buffer[i] is not, bit for bit, the result of a call with this shift.
  std::uint64_t count_wrong(const void* buffer, std::uint64_t count, std::uint64_t shift) const;

 private:
  std::size_t element_bytes_;
  std::vector<std::byte> contribution_;  // one period
  std::vector<std::byte> result_;        // one period
};

}  // namespace hps::perf

#endif
