// SPDX-License-Identifier: BSD-3-Clause
// Stream: what TCP adds to one direction of a connection, as far as it decides how fast an exchange of chunks is: no
// more is under way than a congestion window, which doubles a round trip until something is lost, and then grows by a
// segment a round trip; what a full queue drops is sent again, after a round trip where the receiver can tell that it
// is missing, because more follows, and after a time-out where nothing does; and messages are delivered in the order in
// which they were sent, so that one that is lost holds up those behind it.
//
// A sender's port takes a little of each flow at a time; where it refuses that, for its queue is full as well, the flow
// tries again with the next acknowledgement, or after a time-out, and its window becomes smaller.
//
// Left out: acknowledgements wait in the queues that they find, but take no bandwidth and are never lost; a message is
// lost as a whole; windows do not shrink while a connection is idle; no limit but the congestion window (socket buffers
// hold a bandwidth-delay product).
#ifndef HPS_SRC_TRANSPORT_FAKE_STREAM_H
#define HPS_SRC_TRANSPORT_FAKE_STREAM_H

#include <cstdint>
#include <map>

#include "transport/fake/message.h"
#include "util/types.h"

namespace hps::fake {

struct StreamOptions {
  std::size_t segment_bytes = 8948;         // payload of a segment: MTU 9000
  std::size_t first_window_segments = 10;   // RFC 6928
  double after_loss = 0.7;                  // of the window, as CUBIC leaves
  double growth = 0.53;                     // segments a round trip after a loss: CUBIC's, where it is as Reno
  TimeNs least_timeout_ns = 200'000'000;    // Linux's TCP_RTO_MIN
  std::size_t most_at_port_bytes = 54'000;  // of a flow: Linux's TCP small queues, three buffers of two segments
};

class Stream {
 public:
  // Whether a message of so many bytes may be sent now: always where nothing is under way.
  bool may_send(std::size_t wire_bytes) const noexcept {
    return under_way_bytes_ == 0 || under_way_bytes_ + wire_bytes <= window_bytes_;
  }
  // The window is what keeps this flow from sending.
  void note_limited() noexcept { limited_ = true; }

  // A connection has been opened, over a path with this round trip.
  void open(const StreamOptions& options, TimeNs round_trip_ns) noexcept;
  bool is_open() const noexcept { return smoothed_ns_ > 0; }
  // Whether the port has as much of this flow as it gets.
  bool has_enough_at_port(std::size_t wire_bytes, const StreamOptions& options) const noexcept {
    return refused_ || (at_port_bytes_ != 0 && at_port_bytes_ + wire_bytes > options.most_at_port_bytes);
  }
  void on_at_port(std::size_t wire_bytes) noexcept { at_port_bytes_ += wire_bytes; }
  void on_left_port(std::size_t wire_bytes) noexcept { at_port_bytes_ -= wire_bytes; }
  // The port is full. Whether nothing but a time-out will have the flow try again.
  bool on_refused(TimeNs now, const StreamOptions& options) noexcept;
  // It may try again: it has been told of something, or has more to send.
  void try_again() noexcept { refused_ = false; }
  // A message sets out, for the first time.
  void on_sent(Message& message, TimeNs now) noexcept;
  // It has been dropped. When it is to be sent again; `more_follows`: others of this flow wait to be sent.
  TimeNs on_lost(Message& message, bool more_follows, TimeNs now, const StreamOptions& options) noexcept;
  // The acknowledgement of a message has come back.
  void on_acknowledged(const Message& message, TimeNs now, const StreamOptions& options) noexcept;

  // The receiving end. A message has come; take() returns what can be delivered now, one after the other.
  void put(Message& message) { arrived_[message.number] = &message; }
  Message* take() noexcept;

  std::size_t window_bytes() const noexcept { return window_bytes_; }
  TimeNs smoothed_ns() const noexcept { return smoothed_ns_; }

 private:
  void reduce(TimeNs now, const StreamOptions& options) noexcept;

  std::size_t window_bytes_ = SIZE_MAX;
  std::size_t threshold_bytes_ = SIZE_MAX;  // the window doubles below
  std::size_t under_way_bytes_ = 0;
  std::size_t at_port_bytes_ = 0;
  bool limited_ = false;
  bool refused_ = false;
  TimeNs smoothed_ns_ = 0;    // round trip, queues included
  TimeNs reduced_until_ = 0;  // losses up to then are one
  std::uint64_t next_number_ = 0;
  std::uint64_t next_delivered_ = 0;
  std::map<std::uint64_t, Message*> arrived_;  // and not delivered, by number
};

}  // namespace hps::fake

#endif
