// SPDX-License-Identifier: BSD-3-Clause
// Outbox: how the parts of the engine send messages that have a header of ours. The engine implements it over its
// Transport and fills in the receiver's token.
#ifndef HPS_SRC_TRANSPORT_OUTBOX_H
#define HPS_SRC_TRANSPORT_OUTBOX_H

#include <vector>

#include "transport/transport.h"
#include "util/status.h"
#include "wire/header.h"

namespace hps {

class Outbox {
 public:
  // As Transport::send: the payload stays the caller's until `completion` is told. `to` is another process: nothing is
  // sent to oneself.
  virtual Status send(Rank to, wire::Header header, ConstBytes payload, SendCompletion* completion) = 0;
  // Sends a payload that is handed over.
  virtual Status send_copy(Rank to, const wire::Header& header, std::vector<std::byte> payload) = 0;
  // `peer` has sent to this process, so that it must be told when this process ends.
  virtual void note_sender(Rank /*peer*/) noexcept {}

 protected:
  ~Outbox() = default;
};

}  // namespace hps

#endif
