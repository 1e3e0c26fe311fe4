// SPDX-License-Identifier: BSD-3-Clause
// fake::Network: many ranks in one process, in virtual time, deterministic from a seed. Every rank sits on a host; a
// host has one full-duplex port with a rate and a queue each way; a message occupies its sender's uplink, crosses a
// fixed delay, then occupies its receiver's downlink. Messages between ranks of one host take only the delay. Nothing
// here reads a clock.
//
// Connections keep what they are given, or behave as TCP's (NetworkOptions::streams): then queues may be full.
//
// The uplink serves a host's connections in turn, one message each, as TCP connections share a port. With no jitter
// the messages of a connection keep their order. Cost: about four events a message, each O(log of the events pending);
// memory for the messages under way and the pairs of ranks that have talked, nothing for pairs that have not.
#ifndef HPS_SRC_TRANSPORT_FAKE_NETWORK_H
#define HPS_SRC_TRANSPORT_FAKE_NETWORK_H

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "transport/fake/stream.h"
#include "transport/transport.h"

namespace hps::fake {

struct HostOptions {
  double rate = 0;  // bytes a second each way; 0 = infinitely fast
  // Of streams: what a port queues each way, and what more comes is lost or refused; 0 = no limit.
  std::size_t uplink_queue_bytes = 0;
  std::size_t downlink_queue_bytes = 0;
  std::size_t burst_bytes = 0;  // that a port lets through at once after a pause, as a token bucket does
};

struct NetworkOptions {
  TimeNs delay_ns = 50'000;  // one way
  TimeNs jitter_ns = 0;  // each message's delay is increased by a random 0 .. jitter_ns: messages overtake each other
  std::uint64_t seed = 1;
  std::size_t header_overhead_bytes = 66;  // what lower layers add to a message on the wire
  bool streams = false;                    // connections behave as TCP's (stream.h)
  StreamOptions stream;
  std::size_t max_chunk_bytes = 61440;  // what the ranks' transports say; larger messages work just as well here
};

// Ranks and hosts named in calls must exist. Every function may be called from inside a handler, a completion, a step
// or `stop`, but for run().
class Network {
 public:
  Network(const NetworkOptions& options, const std::vector<HostOptions>& hosts);
  ~Network();

  // The transport of `rank`, which sits on host `host`; ranks are added as 0, 1, 2, ... The Network owns it. `step` is
  // called after each event that was delivered to the rank (a message, a completion, a failed peer), and when the time
  // it last returned has come: it gets the time and returns when it wants to be called again (never_ns: not before an
  // event; a time that is not in the future: in a nanosecond, so that time goes on). An empty `step` wants nothing.
  //
  // send() fails with peer_failed where the connection is broken or the peer was killed, with transport where the rank
  // itself was, with invalid_argument where the peer does not exist or a payload comes without a completion.
  Transport& add_rank(std::uint32_t host, std::function<TimeNs(TimeNs now)> step);

  // Calls the rank's step at the present time, as if an event had come: after the test has started something on it.
  void wake(Rank rank);

  // Runs until nothing is under way and no step wants a time, or until `stop` says so (asked after each event), or
  // until `deadline` (what is due then is still done). Returns the present time: that of the last event, or the
  // deadline where more was to come.
  TimeNs run(const std::function<bool()>& stop = {}, TimeNs deadline = never_ns);
  TimeNs now() const noexcept;

  // Faults. A killed rank's connections break at once on every peer that has one; messages to and from it vanish. None
  // of its code is called again, completions neither.
  void kill(Rank rank);
  // A stopped rank gets nothing and steps no more until resumed; what was sent to it waits. What it has sent goes on.
  void stop(Rank rank);
  void resume(Rank rank);
  // Breaks the connection between two ranks, open or not: both are told; messages under way vanish, and those that have
  // not left their sender complete with peer_failed.
  void break_connection(Rank a, Rank b);
  // Counts from the next message on, each way.
  void set_rate(std::uint32_t host, double bytes_per_second);

  // Counters for tests: messages delivered; bytes that went through a host's port, overhead included.
  std::uint64_t messages() const noexcept;
  std::uint64_t bytes_sent(std::uint32_t host) const noexcept;
  std::uint64_t bytes_received(std::uint32_t host) const noexcept;
  // The most bytes that ever waited for this host's downlink: incast.
  std::uint64_t peak_queue_bytes(std::uint32_t host) const noexcept;
  // Messages that a full queue has lost.
  std::uint64_t losses() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hps::fake

#endif
