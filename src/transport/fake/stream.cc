// SPDX-License-Identifier: BSD-3-Clause
#include "transport/fake/stream.h"

#include <algorithm>
#include <utility>

namespace hps::fake {
namespace {

constexpr unsigned most_doublings = 6;  // of a time-out
constexpr TimeNs smoothing = 8;         // RFC 6298

}  // namespace

void Stream::open(const StreamOptions& options, TimeNs round_trip_ns) noexcept {
  window_bytes_ = options.first_window_segments * options.segment_bytes;
  smoothed_ns_ = std::max<TimeNs>(round_trip_ns, 1);
}

void Stream::on_sent(Message& message, TimeNs now) noexcept {
  message.number = next_number_++;
  message.sent_ns = now;
  message.losses = 0;
  under_way_bytes_ += message.wire_bytes;
}

// More that was sent, or will be, comes back acknowledged and tells of the gap within a round trip. The last of a flow
// is missed by nobody but the sender's clock: a probe after two round trips finds that out (RFC 8985); once that has
// been lost too only time-outs help.
TimeNs Stream::on_lost(Message& message, bool more_follows, TimeNs now, const StreamOptions& options) noexcept {
  reduce(now, options);
  ++message.losses;
  message.sent_ns = -1;  // a round trip is not taken from one that was sent twice
  if (more_follows || under_way_bytes_ > message.wire_bytes) return now + smoothed_ns_;
  if (message.losses == 1) {
    const TimeNs lonely = message.wire_bytes <= options.segment_bytes ? options.least_timeout_ns : 0;
    return now + 3 * smoothed_ns_ + lonely;
  }
  window_bytes_ = 2 * options.segment_bytes;
  const unsigned doublings = std::min(message.losses - 2, most_doublings);
  return now + ((smoothed_ns_ + options.least_timeout_ns) << doublings);
}

// Once a round trip.
void Stream::reduce(TimeNs now, const StreamOptions& options) noexcept {
  if (now < reduced_until_) return;
  const auto reduced = static_cast<std::size_t>(static_cast<double>(window_bytes_) * options.after_loss);
  window_bytes_ = threshold_bytes_ = std::max(reduced, 2 * options.segment_bytes);
  reduced_until_ = now + smoothed_ns_;
}

bool Stream::on_refused(TimeNs now, const StreamOptions& options) noexcept {
  reduce(now, options);
  refused_ = true;
  return under_way_bytes_ == 0;
}

void Stream::on_acknowledged(const Message& message, TimeNs now, const StreamOptions& options) noexcept {
  under_way_bytes_ -= message.wire_bytes;
  refused_ = false;
  if (message.sent_ns >= 0) smoothed_ns_ += (now - message.sent_ns - smoothed_ns_) / smoothing;
  if (!std::exchange(limited_, false)) return;  // a window that is not used says nothing of the path
  if (window_bytes_ < threshold_bytes_) {
    window_bytes_ += message.wire_bytes;
  } else {
    const double part = static_cast<double>(message.wire_bytes) / static_cast<double>(window_bytes_);
    window_bytes_ += static_cast<std::size_t>(options.growth * static_cast<double>(options.segment_bytes) * part);
  }
}

Message* Stream::take() noexcept {
  const auto first = arrived_.begin();
  if (first == arrived_.end() || first->first != next_delivered_) return nullptr;
  Message* const message = first->second;
  arrived_.erase(first);
  ++next_delivered_;
  return message;
}

}  // namespace hps::fake
