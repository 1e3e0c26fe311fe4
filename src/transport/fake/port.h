// SPDX-License-Identifier: BSD-3-Clause
// The two halves of a host's port: which message is sent or received next, and what waits. They know bytes and order;
// when a message ends is the Network's affair.
//
// The uplink serves the flows that have something to send in turn, one message a turn: TCP connections with enough to
// send share a port about equally, whatever their backlogs are, and that is what makes posting all sends of an unequal
// split at once slow. The downlink is one queue; what it has no room for is the Network's affair, and the peak shows
// how much queue a protocol needs.
#ifndef HPS_SRC_TRANSPORT_FAKE_PORT_H
#define HPS_SRC_TRANSPORT_FAKE_PORT_H

#include <cstdint>

#include "transport/fake/connection.h"
#include "transport/fake/intrusive_fifo.h"
#include "transport/fake/message.h"
#include "util/types.h"

namespace hps::fake {

class Uplink {
 public:
  bool busy() const noexcept { return sending_ != nullptr; }
  // Bytes of the messages that have left.
  std::uint64_t bytes() const noexcept { return bytes_; }

  // Puts a message at the end of its flow.
  void push(Flow& flow, Message& message) noexcept;
  // Takes the next message onto the link; nullptr where nothing waits. Only while not busy.
  Message* start() noexcept;
  // The message on the link has left. Only while busy.
  Message& finish() noexcept;

 private:
  IntrusiveFifo<Flow> round_;
  Flow* sending_flow_ = nullptr;
  Message* sending_ = nullptr;
  std::uint64_t bytes_ = 0;
};

class Downlink {
 public:
  bool busy() const noexcept { return receiving_ != nullptr; }
  // Bytes of the messages that have been received.
  std::uint64_t bytes() const noexcept { return bytes_; }
  // Bytes that wait now, and the most that ever did, the message being received not counted.
  std::uint64_t waiting_bytes() const noexcept { return waiting_bytes_; }
  std::uint64_t peak_waiting_bytes() const noexcept { return peak_waiting_bytes_; }

  // Puts a message at the end of the queue, at time `now`.
  void push(Message& message, TimeNs now) noexcept;
  // Takes the first message onto the link; nullptr where none waits. Only while not busy.
  Message* start() noexcept;
  // Tells until when the message just started occupies the link.
  void set_busy_until(TimeNs time) noexcept { busy_until_ = time; }
  // The message on the link has been received. Only while busy.
  Message& finish() noexcept;

 private:
  IntrusiveFifo<Message> queue_;
  Message* receiving_ = nullptr;
  TimeNs busy_until_ = 0;
  std::uint64_t waiting_bytes_ = 0;
  std::uint64_t peak_waiting_bytes_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace hps::fake

#endif
