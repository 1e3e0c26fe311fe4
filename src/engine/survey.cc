// SPDX-License-Identifier: BSD-3-Clause
#include "engine/survey.h"

#include <algorithm>

namespace hps {
namespace {

constexpr std::uint32_t shortest_train = 16;   // messages
constexpr TimeNs shortest_ns = 10'000'000;     // that can be timed to a percent or two, as threads wake up
constexpr std::uint32_t most_growth = 16;      // of a train that was too short
constexpr TimeNs patience_ns = 5'000'000'000;  // without any news

std::vector<std::uint32_t> shifts_of(std::uint32_t nodes) {
  std::vector<std::uint32_t> shifts;
  for (std::uint32_t shift : {1u, nodes / 2, nodes - 1, 2u}) {
    if (shift % nodes != 0 && std::find(shifts.begin(), shifts.end(), shift) == shifts.end()) shifts.push_back(shift);
  }
  return shifts;
}

// Long enough for twice the shortest time, if it goes on as fast.
std::uint32_t longer(std::uint32_t messages, TimeNs ns, std::uint32_t most) {
  const TimeNs wanted = 2 * shortest_ns / std::max<TimeNs>(ns, 1) + 1;
  const auto factor = static_cast<std::uint32_t>(std::clamp<TimeNs>(wanted, 2, most_growth));
  return std::min(messages * factor, most);
}

}  // namespace

Survey::Survey(std::vector<Rank> probes, const Options& options, std::uint32_t first_order, TimeNs now)
    : probes_(std::move(probes)),
      options_(options),
      next_order_(first_order),
      shifts_(shifts_of(static_cast<std::uint32_t>(probes_.size()))),
      pairs_(probes_.size(), Pair{0, shortest_train}),
      deadline_(now + patience_ns) {
  start_round();
}

std::uint32_t Survey::target(std::uint32_t node) const noexcept {
  return static_cast<std::uint32_t>((node + shifts_[shift_]) % probes_.size());
}

void Survey::start_round() {
  for (std::uint32_t node = 0; node < probes_.size(); ++node) give_order(node);
}

void Survey::give_order(std::uint32_t node) {
  if (next_order_ == 0) ++next_order_;
  pairs_[node].order = next_order_++;
  orders_.push_back(
      {pairs_[node].order, probes_[node], {probes_[target(node)], pairs_[node].messages, options_.message_bytes}});
}

Rejection Survey::on_measured(std::uint32_t order, Rank reporter, const wire::Measured& measured, TimeNs now) {
  const auto pair =
      std::find_if(pairs_.begin(), pairs_.end(), [&](const Pair& one) { return one.order == order && order != 0; });
  if (done() || pair == pairs_.end()) return Rejection::late;
  const auto node = static_cast<std::uint32_t>(pair - pairs_.begin());
  if (measured.from != probes_[node] || reporter != probes_[target(node)]) return Rejection::unexpected;
  deadline_ = now + patience_ns;
  if (measured.ns < shortest_ns && pair->messages < options_.most_messages) {
    pair->messages = longer(pair->messages, measured.ns, options_.most_messages);
    give_order(node);
    return Rejection::none;
  }
  pair->order = 0;
  const double seconds = static_cast<double>(std::max<TimeNs>(measured.ns, 1)) * 1e-9;
  measured_.push_back({node, target(node), static_cast<double>(measured.bytes) / seconds});
  if (std::any_of(pairs_.begin(), pairs_.end(), [](const Pair& one) { return one.order != 0; })) return Rejection::none;
  if (++shift_ != shifts_.size()) start_round();
  return Rejection::none;
}

std::vector<double> Survey::rates() const { return link_rates(static_cast<std::uint32_t>(probes_.size()), measured_); }

void Survey::add_awaited(std::vector<Rank>* ranks) const {
  for (std::uint32_t node = 0; node < probes_.size() && !done(); ++node) {
    if (pairs_[node].order == 0) continue;
    ranks->push_back(probes_[node]);
    ranks->push_back(probes_[target(node)]);
  }
}

}  // namespace hps
