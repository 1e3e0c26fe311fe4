// SPDX-License-Identifier: BSD-3-Clause
#include "transport/fake/message.h"

#include <algorithm>
#include <bit>

namespace hps::fake {

Message& MessagePool::acquire(ConstBytes header, ConstBytes payload) {
  const std::size_t bytes = std::max<std::size_t>(header.size() + payload.size(), 1);
  const unsigned size_class = std::max(smallest_class, static_cast<unsigned>(std::bit_width(bytes - 1)));
  Message* message = free_[size_class];
  if (message != nullptr) {
    free_[size_class] = message->next;
  } else {
    message = &messages_.emplace_back();
    message->buffer = std::make_unique_for_overwrite<std::byte[]>(std::size_t{1} << size_class);
    message->size_class = size_class;
  }
  message->next = nullptr;
  message->losses = 0;
  message->uses = 1;
  message->header_bytes = header.size();
  message->payload_bytes = payload.size();
  std::copy(header.begin(), header.end(), message->buffer.get());
  std::copy(payload.begin(), payload.end(), message->buffer.get() + header.size());
  return *message;
}

void MessagePool::release(Message& message) noexcept {
  std::fill_n(message.buffer.get(), message.header_bytes + message.payload_bytes, std::byte{0xDD});
  message.source = no_rank;
  message.destination = no_rank;
  message.connection = nullptr;
  message.completion = nullptr;
  message.wire_bytes = 0;
  message.next = free_[message.size_class];
  free_[message.size_class] = &message;
}

}  // namespace hps::fake
