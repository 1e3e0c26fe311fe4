// SPDX-License-Identifier: BSD-3-Clause
// FailedCalls: the calls of one group that have failed, and why, for ranks that have not come to them yet. Calls are
// named by their sequence number, which wraps around.
//
// A rank that is ahead of others waits in every call that has not failed, so failures ahead come in runs of consecutive
// numbers. Each keeps its own reason while there are few; then neighbours share one, so that memory stays bounded
// whatever comes.
#ifndef HPS_SRC_UTIL_FAILED_CALLS_H
#define HPS_SRC_UTIL_FAILED_CALLS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/status.h"

namespace hps {

class FailedCalls {
 public:
  static constexpr std::size_t most_runs = 256;

  // The first reason that is given for a call stays. False where there is no place for another: never where all that
  // fails comes from honest members of a group of at most so many.
  bool add(std::uint32_t sequence, const Status& why);
  // Why a call has failed; nullptr where it has not. Valid until the next change.
  const Status* find(std::uint32_t sequence) const noexcept;
  // Forgets this call and all before it.
  void forget_through(std::uint32_t sequence) noexcept;
  bool empty() const noexcept { return runs_.empty(); }

 private:
  struct Run {
    std::uint32_t first;
    std::uint32_t last;
    Status why;
  };
  bool make_room() noexcept;

  std::vector<Run> runs_;  // ascending, apart
};

}  // namespace hps

#endif
