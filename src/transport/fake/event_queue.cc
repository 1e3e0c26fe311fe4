// SPDX-License-Identifier: BSD-3-Clause
#include "transport/fake/event_queue.h"

#include <algorithm>
#include <cassert>

namespace hps::fake {

bool EventQueue::timer_is_next() const noexcept {
  if (timers_.empty()) return false;
  return heap_.empty() || timers_.begin()->key < heap_.front().key;
}

TimeNs EventQueue::next_time() const noexcept {
  if (timer_is_next()) return timers_.begin()->key.time;
  return heap_.empty() ? never_ns : heap_.front().key.time;
}

Event EventQueue::pop() {
  assert(next_time() != never_ns);
  if (timer_is_next()) {
    const Rank rank = timers_.begin()->rank;
    set_timer(rank, never_ns);
    return {Event::Kind::step, static_cast<std::uint32_t>(rank), nullptr};
  }
  const Event event = heap_.front().event;
  std::pop_heap(heap_.begin(), heap_.end(), Later());
  heap_.pop_back();
  return event;
}

void EventQueue::push(TimeNs time, const Event& event) {
  heap_.push_back({{time, next_serial_++}, event});
  std::push_heap(heap_.begin(), heap_.end(), Later());
}

void EventQueue::set_timer(Rank rank, TimeNs time) {
  const auto slot = static_cast<std::size_t>(rank);
  if (slot >= timer_of_.size()) timer_of_.resize(slot + 1, timers_.end());
  Timers::iterator& timer = timer_of_[slot];
  const Timer moved{{time, next_serial_++}, rank};
  if (timer == timers_.end()) {
    if (time != never_ns) timer = timers_.insert(moved).first;
  } else if (time == never_ns) {
    timers_.erase(timer);
    timer = timers_.end();
  } else if (timer->key.time != time) {
    // The node is moved rather than made anew: steps are many.
    auto node = timers_.extract(timer);
    node.value() = moved;
    timer = timers_.insert(std::move(node)).position;
  }
}

}  // namespace hps::fake
