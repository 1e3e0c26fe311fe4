// SPDX-License-Identifier: BSD-3-Clause
// EventQueue: what happens next in a discrete-event simulation. Events come out by time, and those of one time in the
// order in which they were put in, so that a run is the same every time. Each rank has besides one timer, which can be
// moved: a rank that moves a far time-out with every step leaves nothing behind. Cost: O(log pending) a call.
#ifndef HPS_SRC_TRANSPORT_FAKE_EVENT_QUEUE_H
#define HPS_SRC_TRANSPORT_FAKE_EVENT_QUEUE_H

#include <cstdint>
#include <set>
#include <vector>

#include "transport/fake/message.h"
#include "util/types.h"

namespace hps::fake {

struct Event {
  enum class Kind : std::uint8_t {
    uplink_done,    // of host `index`
    left_locally,   // `message` between two ranks of one host has left its sender
    arrived,        // `message` is at its receiver's downlink
    downlink_done,  // of host `index`
    acknowledged,   // `message` of a stream, at its sender
    sent_again,     // `message` of a stream, which was lost, by its sender
    try_again,      // rank `index`, whose port was full
    delivered,      // `message` between two ranks of one host is at its receiver
    inbox,          // rank `index` takes the first entry of its inbox
    step,           // rank `index` steps
  };
  Kind kind = Kind::step;
  std::uint32_t index = 0;
  Message* message = nullptr;
};

class EventQueue {
 public:
  // The time of the next event; never_ns where there is none.
  TimeNs next_time() const noexcept;
  // Takes off the next event; a timer that has come is an event of kind step. Only where next_time() is not never_ns.
  Event pop();

  void push(TimeNs time, const Event& event);
  // Replaces the rank's timer; never_ns takes it away.
  void set_timer(Rank rank, TimeNs time);

 private:
  struct Key {
    TimeNs time;
    std::uint64_t serial;
    auto operator<=>(const Key&) const = default;
  };
  struct Entry {
    Key key;
    Event event;
  };
  struct Timer {
    Key key;
    Rank rank;
    bool operator<(const Timer& other) const noexcept { return key < other.key; }
  };
  using Timers = std::set<Timer>;
  // A type, not a function, so that the heap's many comparisons are inlined.
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const noexcept { return a.key > b.key; }
  };
  bool timer_is_next() const noexcept;

  std::uint64_t next_serial_ = 0;
  std::vector<Entry> heap_;
  Timers timers_;
  std::vector<Timers::iterator> timer_of_;  // by rank; timers_.end() where it has none
};

}  // namespace hps::fake

#endif
