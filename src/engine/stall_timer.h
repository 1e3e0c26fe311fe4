// SPDX-License-Identifier: BSD-3-Clause
// StallTimer: tells when something that should move has stood still for long. It is told how often it has moved, and
// the time, whenever somebody looks, and counts from the first look that finds it where the one before did.
#ifndef HPS_SRC_ENGINE_STALL_TIMER_H
#define HPS_SRC_ENGINE_STALL_TIMER_H

#include <cstdint>

#include "util/types.h"

namespace hps {

class StallTimer {
 public:
  // `moves`: a count that changes with every move. How long it has stood still.
  TimeNs still_ns(std::uint64_t moves, TimeNs now) noexcept {
    if (!started_ || moves != moves_) since_ns_ = now;
    started_ = true;
    moves_ = moves;
    return now - since_ns_;
  }
  TimeNs since_ns() const noexcept { return since_ns_; }

 private:
  std::uint64_t moves_ = 0;
  TimeNs since_ns_ = 0;
  bool started_ = false;
};

// Comes round every so often.
class Interval {
 public:
  // Unless it runs: it comes round first after an interval.
  void start(TimeNs now, TimeNs interval_ns) noexcept {
    if (next_ns_ == 0) next_ns_ = interval_ns == never_ns ? never_ns : now + interval_ns;
  }
  void stop() noexcept { next_ns_ = 0; }
  // Whether it is time again. One that does not run is due, and runs then.
  bool is_due(TimeNs now, TimeNs interval_ns) noexcept {
    if (interval_ns == never_ns || now < next_ns_) return false;
    next_ns_ = now + interval_ns;
    return true;
  }
  TimeNs next_ns() const noexcept { return next_ns_; }

 private:
  TimeNs next_ns_ = 0;
};

}  // namespace hps

#endif
