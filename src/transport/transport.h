// SPDX-License-Identifier: BSD-3-Clause
// Transport: what the engine needs of a network. Messages are reliable and, while a connection lives, arrive once; no
// order between messages is promised. A message that cannot be delivered breaks its connection, which both sides learn
// (on_peer_failed).
//
// Implementations: ucx/ (UCX active messages) and fake/ (many ranks in one process, in virtual time, with faults to
// inject). Not thread-safe: one thread at a time may be inside a Transport; the driver's lock sees to it.
#ifndef HPS_SRC_TRANSPORT_TRANSPORT_H
#define HPS_SRC_TRANSPORT_TRANSPORT_H

#include "util/status.h"
#include "util/types.h"

namespace hps {

// Whether a message that came from `source` may be of the rank that it names as its sender; no_rank: not known.
constexpr bool may_be_of(Rank named, Rank source) noexcept {
  return named == source || named == no_rank || source == no_rank;
}

// Told once, and exactly once, when a send that was accepted no longer needs its payload. It may be told before send()
// returns.
class SendCompletion {
 public:
  virtual void on_sent(const Status& status) noexcept = 0;

 protected:
  ~SendCompletion() = default;
};

class TransportHandler {
 public:
  // One whole message. `header` and `payload` are valid during the call only; sending from inside the call is allowed.
  // `source` is the peer it came from where the transport knows, else no_rank.
  virtual void on_message(Rank source, ConstBytes header, ConstBytes payload) noexcept = 0;
  // The connection to `peer` is gone, for good: nothing more can be sent to it, and sends under way complete with an
  // error.
  virtual void on_peer_failed(Rank peer, const Status& why) noexcept = 0;

 protected:
  ~TransportHandler() = default;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // Must be called once, before anything arrives. The handler must outlive the transport's last progress.
  virtual void set_handler(TransportHandler& handler) noexcept = 0;

  // Sends header and payload to `peer` as one message. The header is copied; the payload stays the caller's and must
  // not change until `completion` is told (nullptr: nobody needs to know; then the payload must be empty). Opens the
  // connection on first use, without blocking. When the returned Status is not ok, nothing was sent and `completion` is
  // not told.
  virtual Status send(Rank peer, ConstBytes header, ConstBytes payload, SendCompletion* completion) = 0;

  // The largest payload that travels in one piece (a chunk should not exceed it). Larger messages work, at a cost.
  virtual std::size_t max_chunk_bytes() const noexcept = 0;
};

}  // namespace hps

#endif
