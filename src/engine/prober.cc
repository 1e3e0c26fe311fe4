// SPDX-License-Identifier: BSD-3-Clause
#include "engine/prober.h"

#include <utility>

namespace hps {
namespace {

constexpr std::uint32_t beginning = 3;  // one part of so many
constexpr std::size_t most_trains = 8;  // under way at once: one is the rule

}  // namespace

// The messages of one train, which share their payload. It owns itself while they are under way.
class Prober::Train final : public SendCompletion {
 public:
  Train(Prober& prober, const wire::TrainHead& head, std::uint32_t message_bytes)
      : prober_(prober), payload_(wire::encode(head)), left_(1) {
    payload_.resize(message_bytes);
    ++prober_.trains_;
  }
  // A train that cannot be sent to its end is of no use; what was sent arrives for nothing.
  void send(Rank to, const wire::Header& header, std::uint32_t messages) {
    for (std::uint32_t i = 0; i < messages; ++i) {
      ++left_;
      const Status sent = prober_.outbox_.send(to, header, payload_, this);
      if (sent.ok()) continue;
      --left_;
      prober_.log_.debug("could not measure the link to rank " + std::to_string(to) + ": " + sent.to_string());
      break;
    }
    on_sent({});
  }
  void on_sent(const Status&) noexcept override {
    if (--left_ != 0) return;
    --prober_.trains_;
    delete this;
  }

 private:
  Prober& prober_;
  std::vector<std::byte> payload_;
  std::uint32_t left_;  // messages, and send() itself
};

Prober::Prober(Rank self, Outbox& outbox, const Log& log) : self_(self), outbox_(outbox), log_(log) {}

Prober::~Prober() = default;

Rejection Prober::send(const Client& client, const wire::MeasureOrder& order) {
  if (order.to == self_ || order.to < 0) return Rejection::unknown_rank;
  if (trains_ == most_trains) return Rejection::too_many;
  wire::Header header;
  header.type = wire::MessageType::train;
  header.handle = client.handle;
  header.sequence = client.order;
  header.chunk = static_cast<std::uint32_t>(self_);
  auto* train = new Train(*this, {client.rank, order.messages}, order.message_bytes);  // deletes itself
  train->send(order.to, header, order.messages);
  return Rejection::none;
}

Rejection Prober::on_order(const wire::Header& header, ConstBytes payload) {
  wire::MeasureOrder order;
  if (!wire::decode(payload, &order)) return Rejection::malformed;
  return send({static_cast<Rank>(header.chunk), header.handle, header.sequence}, order);
}

// A train that is not the one before ends it: whoever ordered both waits for this one.
Rejection Prober::on_train(const wire::Header& header, ConstBytes payload) {
  wire::TrainHead head;
  if (!wire::decode(payload, &head)) return Rejection::malformed;
  const Client client{head.leader, header.handle, header.sequence};
  Arriving& train = arriving_[static_cast<Rank>(header.chunk)];
  if (train.client != client) train = {client, head.messages};
  if (head.messages != train.messages || train.arrived == train.messages) return Rejection::unexpected;
  ++train.arrived;
  train.bytes += payload.size();
  train.fresh = fresh_ = true;
  return Rejection::none;
}

std::vector<Prober::Result> Prober::step(TimeNs now) {
  std::vector<Result> whole;
  if (!std::exchange(fresh_, false)) return whole;
  for (auto& [from, train] : arriving_) {
    if (!std::exchange(train.fresh, false)) continue;
    note(train, now);
    if (train.arrived == train.messages) whole.push_back({train.client, measure(from, train, now)});
  }
  return whole;
}

void Prober::note(Arriving& train, TimeNs now) noexcept {
  if (train.arrived < train.messages && beginning * train.arrived < train.messages) return;
  if (train.first_ns < 0) {
    train.first_ns = now;
    train.first_bytes = train.bytes;
  }
  const auto ns = static_cast<double>(now - train.first_ns);
  const auto bytes = static_cast<double>(train.bytes - train.first_bytes);
  train.points += 1;
  train.sum_ns += ns;
  train.sum_bytes += bytes;
  train.sum_ns_ns += ns * ns;
  train.sum_ns_bytes += ns * bytes;
}

// The bytes that would have come, at the rate found, in the time that was seen.
wire::Measured Prober::measure(Rank from, const Arriving& train, TimeNs now) noexcept {
  const double spread = train.points * train.sum_ns_ns - train.sum_ns * train.sum_ns;
  const TimeNs ns = now - train.first_ns;
  if (!(spread > 0)) return {from, train.bytes - train.first_bytes, ns};
  const double rate = (train.points * train.sum_ns_bytes - train.sum_ns * train.sum_bytes) / spread;
  return {from, static_cast<std::uint64_t>(rate * static_cast<double>(ns)), ns};
}

}  // namespace hps
