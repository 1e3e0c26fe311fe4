// SPDX-License-Identifier: BSD-3-Clause
#include "engine/liveness.h"

#include <algorithm>

namespace hps {
namespace {

constexpr TimeNs longest_interval_ns = 15'000'000'000;

}  // namespace

TimeNs Liveness::interval_ns() const noexcept {
  return timeout_ns_ == 0 ? never_ns : std::clamp<TimeNs>(timeout_ns_ / 4, 1, longest_interval_ns);
}

void Liveness::ask(Rank peer, TimeNs now) {
  if (timeout_ns_ == 0 || peer == self_) return;
  if (asked_.empty()) looked_ns_ = now;
  if (!asked_.emplace(peer, now).second) return;
  wire::Header header;
  header.type = wire::MessageType::ping;
  header.chunk = static_cast<std::uint32_t>(self_);
  // One that cannot be reached is lost, which the engine learns from the failed send.
  if (!outbox_.send_copy(peer, header, {}).ok()) asked_.erase(peer);
}

bool Liveness::on_message(const wire::Header& header) {
  const auto peer = static_cast<Rank>(header.chunk);
  if (header.type == wire::MessageType::pong) return asked_.erase(peer) != 0;
  wire::Header answer;
  answer.type = wire::MessageType::pong;
  answer.chunk = static_cast<std::uint32_t>(self_);
  return outbox_.send_copy(peer, answer, {}).ok();
}

// A process that was stopped itself, or a host that slept, finds all answers late: it has not looked for them. Then the
// time begins anew.
std::vector<Rank> Liveness::overdue(TimeNs now) {
  const bool was_away = !asked_.empty() && now - looked_ns_ > timeout_ns_ / 2 + longest_interval_ns;
  looked_ns_ = now;
  std::vector<Rank> late;
  for (auto& [peer, since] : asked_) {
    if (was_away) since = std::max(since, now - timeout_ns_ / 2);
    if (now - since >= timeout_ns_) late.push_back(peer);
  }
  for (Rank peer : late) asked_.erase(peer);
  return late;
}

TimeNs Liveness::next_look() const noexcept {
  TimeNs next = never_ns;
  for (const auto& [peer, since] : asked_) next = std::min({next, since + timeout_ns_, looked_ns_ + interval_ns()});
  return next;
}

}  // namespace hps
