// SPDX-License-Identifier: BSD-3-Clause
#include "transport/fake/port.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace hps::fake {

void Uplink::push(Flow& flow, Message& message) noexcept {
  flow.waiting.push(message);
  if (flow.in_round) return;
  flow.in_round = true;
  round_.push(flow);
}

Message* Uplink::start() noexcept {
  assert(!busy());
  while (Flow* const flow = round_.pop()) {
    Message* const message = flow->waiting.pop();
    if (message != nullptr) {
      sending_flow_ = flow;
      return sending_ = message;
    }
    flow->in_round = false;  // its connection broke while it stood in the round
  }
  return nullptr;
}

Message& Uplink::finish() noexcept {
  assert(busy());
  // Only now does the flow queue up again: one that began to wait during this message has its turn first.
  sending_flow_->in_round = !sending_flow_->waiting.empty();
  if (sending_flow_->in_round) round_.push(*sending_flow_);
  sending_flow_ = nullptr;
  bytes_ += sending_->wire_bytes;
  return *std::exchange(sending_, nullptr);
}

void Downlink::push(Message& message, TimeNs now) noexcept {
  queue_.push(message);
  waiting_bytes_ += message.wire_bytes;
  // The first in the queue does not wait where the link falls free at this very moment.
  const std::size_t starts_now = !busy() || busy_until_ <= now ? queue_.front()->wire_bytes : 0;
  peak_waiting_bytes_ = std::max(peak_waiting_bytes_, waiting_bytes_ - starts_now);
}

Message* Downlink::start() noexcept {
  assert(!busy());
  receiving_ = queue_.pop();
  if (receiving_ != nullptr) waiting_bytes_ -= receiving_->wire_bytes;
  return receiving_;
}

Message& Downlink::finish() noexcept {
  assert(busy());
  bytes_ += receiving_->wire_bytes;
  return *std::exchange(receiving_, nullptr);
}

}  // namespace hps::fake
