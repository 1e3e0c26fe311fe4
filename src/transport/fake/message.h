// SPDX-License-Identifier: BSD-3-Clause
// Message: one message under way in the fake network, with its own copy of header and payload; and MessagePool, which
// recycles messages together with their buffers, so that a simulation of millions of messages allocates only as many as
// were ever under way at once. Buffers come in powers of two, each with its own free list: a small message never holds
// a large buffer, so memory stays within twice the bytes under way.
#ifndef HPS_SRC_TRANSPORT_FAKE_MESSAGE_H
#define HPS_SRC_TRANSPORT_FAKE_MESSAGE_H

#include <array>
#include <cstddef>
#include <deque>
#include <memory>

#include "transport/transport.h"

namespace hps::fake {

struct Connection;

struct Message {
  Message* next = nullptr;  // in the IntrusiveFifo or free list it stands in
  Rank source = no_rank;
  Rank destination = no_rank;
  Connection* connection = nullptr;
  SendCompletion* completion = nullptr;  // nullptr once told
  std::size_t wire_bytes = 0;            // header, payload and overhead: what it occupies a link for
  std::size_t header_bytes = 0;
  std::size_t payload_bytes = 0;

  // Of a stream.
  std::uint64_t number = 0;  // its place among the messages of its flow
  TimeNs sent_ns = -1;       // -1: it was sent more than once
  unsigned losses = 0;
  unsigned uses = 0;  // its delivery, its acknowledgement

  ConstBytes header() const noexcept { return {buffer.get(), header_bytes}; }
  // Follows the header without a gap: receivers may not count on alignment.
  ConstBytes payload() const noexcept { return {buffer.get() + header_bytes, payload_bytes}; }

  std::unique_ptr<std::byte[]> buffer;
  unsigned size_class = 0;  // buffer holds 1 << size_class bytes
};

class MessagePool {
 public:
  // A message that holds copies of `header` and `payload`; its other fields are as after construction. It stays valid
  // until released, or until the pool goes.
  Message& acquire(ConstBytes header, ConstBytes payload);
  // Gives the message back. Its bytes are overwritten, so that a receiver that kept a span into them is found out.
  void release(Message& message) noexcept;

  // How many messages were ever allocated.
  std::size_t allocated() const noexcept { return messages_.size(); }

 private:
  static constexpr unsigned smallest_class = 6;  // 64 bytes

  std::deque<Message> messages_;
  std::array<Message*, 64> free_{};
};

}  // namespace hps::fake

#endif
