// SPDX-License-Identifier: BSD-3-Clause
#include "engine/shutdown.h"

#include <algorithm>
#include <utility>

#include "wire/abort.h"

namespace hps {
namespace {

// In most jobs all ranks are done by then, and nobody is asked.
constexpr TimeNs patience_ns = 1'000'000'000;

}  // namespace

void Shutdown::open(std::vector<Rank> workers, std::vector<Rank> cpu_only) {
  workers_ = std::move(workers);
  cpu_only_ = std::move(cpu_only);
  serves_ = !is_worker(self_);
}

bool Shutdown::is_worker(Rank rank) const noexcept {
  return std::find(workers_.begin(), workers_.end(), rank) != workers_.end();
}

Rank Shutdown::root() const noexcept {
  const auto at = std::find_if(workers_.begin(), workers_.end(), [&](Rank worker) { return !is_over(worker); });
  return at == workers_.end() ? no_rank : *at;
}

// The workers for which the root waits.
std::vector<Rank> Shutdown::missing() const {
  std::vector<Rank> ranks;
  for (Rank worker : workers_) {
    if (worker != self_ && !is_over(worker)) ranks.push_back(worker);
  }
  return ranks;
}

bool Shutdown::on_message(const wire::Header& header, ConstBytes payload) {
  const auto sender = static_cast<Rank>(header.chunk);
  if (sender == self_ || !is_worker(sender) || header.signature.count > 1) return false;
  outbox_.note_sender(sender);
  over_.insert(sender);
  if (header.signature.count == 1) told_to_end_ = true;
  if (!payload.empty() && loss_.ok()) loss_ = wire::decode_abort(payload);
  return true;
}

void Shutdown::on_peer_failed(Rank peer, const Status& why) {
  if (is_worker(peer)) over_.insert(peer);
  if (loss_.ok()) loss_ = why;
}

void Shutdown::on_peer_ended(Rank peer, const Status& why) {
  const Rank now_root = root();
  const bool is_loss = !complete_ && !told_to_end_ && is_worker(peer) && (peer == now_root || self_ == now_root);
  on_peer_failed(peer, is_loss ? why : Status());
}

TimeNs Shutdown::work(TimeNs now) {
  if (serves_)
    complete_ = told_to_end_ || root() == no_rank;
  else
    work_as_worker();
  return complete_ ? never_ns : look_for_lost(now);
}

void Shutdown::work_as_worker() {
  const Rank now_root = root();
  if (told_to_end_ || !loss_.ok() || (now_root == self_ && missing().empty())) {
    complete_ = true;
    if (!told_to_end_) tell_everyone(loss_.ok());
  } else if (now_root != self_ && std::exchange(told_, now_root) != now_root) {
    tell(now_root, false);
  }
}

// A rank that cannot be told is lost, which the engine learns from the failed send.
void Shutdown::tell(Rank to, bool for_all) {
  wire::Header header;
  header.type = wire::MessageType::shutdown;
  header.chunk = static_cast<std::uint32_t>(self_);
  header.signature.count = for_all ? 1 : 0;
  static_cast<void>(outbox_.send_copy(to, header, loss_.ok() ? std::vector<std::byte>() : wire::encode_abort(loss_)));
}

void Shutdown::tell_everyone(bool for_all) {
  for (const std::vector<Rank>* ranks : {&workers_, &cpu_only_}) {
    for (Rank rank : *ranks) {
      if (rank != self_ && rank != loss_.who()) tell(rank, for_all);
    }
  }
}

TimeNs Shutdown::look_for_lost(TimeNs now) {
  waits_since_ns_ = std::min(waits_since_ns_, now);
  if (now < waits_since_ns_ + patience_ns) return waits_since_ns_ + patience_ns;
  const TimeNs interval_ns = liveness_.interval_ns();
  const Rank now_root = root();
  const bool is_due = looks_.is_due(now, interval_ns);
  if (std::exchange(asked_, now_root) != now_root || is_due) {
    for (Rank rank : now_root == self_ ? missing() : std::vector<Rank>{now_root}) {
      outbox_.note_sender(rank);  // so that it is missed when its connection breaks
      liveness_.ask(rank, now);
    }
  }
  return interval_ns == never_ns ? never_ns : looks_.next_ns();
}

}  // namespace hps
