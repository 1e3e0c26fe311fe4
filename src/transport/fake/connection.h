// SPDX-License-Identifier: BSD-3-Clause
// Connection: the state of two ranks that have exchanged a message, and the table of all connections. A connection is
// made on first use, so memory grows with the pairs that talk and not with the square of the ranks.
#ifndef HPS_SRC_TRANSPORT_FAKE_CONNECTION_H
#define HPS_SRC_TRANSPORT_FAKE_CONNECTION_H

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "transport/fake/intrusive_fifo.h"
#include "transport/fake/message.h"
#include "transport/fake/stream.h"

namespace hps::fake {

// One direction of a connection: the messages that wait for the sender's uplink. The uplink serves flows in turn, as
// TCP connections share a port.
struct Flow {
  Flow* next = nullptr;  // in the uplink's round
  IntrusiveFifo<Message> waiting;
  bool in_round = false;  // it stands in the uplink's round, or its message is the one being sent

  // Of a stream, before the uplink.
  IntrusiveFifo<Message> kept;
  IntrusiveFifo<Message> again;  // that were lost, and go first
  Stream stream;
};

struct Connection {
  Rank low = no_rank;
  Rank high = no_rank;
  bool broken = false;  // for good
  Flow from_low;
  Flow from_high;

  Rank peer_of(Rank rank) const noexcept { return rank == low ? high : low; }
  Flow& flow_from(Rank sender) noexcept { return sender == low ? from_low : from_high; }
};

class ConnectionTable {
 public:
  // The connection between two ranks, made where there is none yet; *made tells. References stay valid.
  Connection& open(Rank a, Rank b, bool* made) {
    const auto [low, high] = std::minmax(a, b);
    const auto key = static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint32_t>(high);
    const auto [entry, inserted] = connections_.try_emplace(key);
    if (inserted) {
      entry->second.low = low;
      entry->second.high = high;
    }
    *made = inserted;
    return entry->second;
  }

 private:
  std::unordered_map<std::uint64_t, Connection> connections_;
};

}  // namespace hps::fake

#endif
