// SPDX-License-Identifier: BSD-3-Clause
#include "transport/fake/event_queue.h"

#include <gtest/gtest.h>

#include <utility>

namespace hps::fake {
namespace {

// The events that come out, as (time, index).
std::vector<std::pair<TimeNs, std::uint32_t>> drain(EventQueue& queue) {
  std::vector<std::pair<TimeNs, std::uint32_t>> all;
  while (queue.next_time() != never_ns) {
    const TimeNs time = queue.next_time();
    all.emplace_back(time, queue.pop().index);
  }
  return all;
}

using Drained = std::vector<std::pair<TimeNs, std::uint32_t>>;

TEST(EventQueueTest, OrdersByTimeThenByComing) {
  EventQueue queue;
  for (std::uint32_t i = 0; i < 100; ++i) queue.push(i % 3, {Event::Kind::arrived, i, nullptr});
  Drained expected;
  for (std::uint32_t time = 0; time < 3; ++time) {
    for (std::uint32_t i = time; i < 100; i += 3) expected.emplace_back(time, i);
  }
  EXPECT_EQ(drain(queue), expected);
}

TEST(EventQueueTest, TimersAndEventsShareOneOrder) {
  EventQueue queue;
  queue.push(10, {Event::Kind::arrived, 100, nullptr});
  queue.set_timer(7, 10);
  queue.push(10, {Event::Kind::arrived, 101, nullptr});
  queue.set_timer(8, 5);
  EXPECT_EQ(queue.next_time(), 5);
  const Event first = queue.pop();
  EXPECT_EQ(first.kind, Event::Kind::step);
  EXPECT_EQ(first.index, 8u);
  EXPECT_EQ(drain(queue), (Drained{{10, 100}, {10, 7}, {10, 101}}));
}

TEST(EventQueueTest, TimerIsReplacedAndTakenAway) {
  EventQueue queue;
  queue.set_timer(0, 10);
  queue.set_timer(1, 20);
  queue.set_timer(2, 30);
  queue.set_timer(0, 25);
  queue.set_timer(2, 15);
  queue.set_timer(1, never_ns);
  queue.set_timer(3, never_ns);
  EXPECT_EQ(drain(queue), (Drained{{15, 2}, {25, 0}}));
  queue.set_timer(1, 40);
  EXPECT_EQ(drain(queue), (Drained{{40, 1}})) << "and set again";
}

TEST(EventQueueTest, EmptyHasNoTime) { EXPECT_EQ(EventQueue().next_time(), never_ns); }

}  // namespace
}  // namespace hps::fake
