// SPDX-License-Identifier: BSD-3-Clause
#include "summation/call_table.h"

#include <algorithm>

namespace hps {
namespace {

// What is over is not far behind the last call that has ended.
constexpr std::uint32_t calls_kept_apart = 1u << 20;

}  // namespace

ServedCall* CallTable::find(std::uint32_t sequence) noexcept {
  for (const auto& call : calls_) {
    if (call->sequence == sequence) return call.get();
  }
  return nullptr;
}

ServedCall* CallTable::add(std::uint32_t sequence) {
  if (calls_.size() == most_calls_) return nullptr;
  calls_.push_back(std::make_unique<ServedCall>());
  calls_.back()->sequence = sequence;
  return calls_.back().get();
}

bool CallTable::is_over(std::uint32_t sequence) const noexcept { return over_through_ - sequence < calls_kept_apart; }

bool CallTable::fail(std::uint32_t sequence, const Status& why) {
  std::erase_if(calls_, [&](const auto& call) { return call->sequence == sequence; });
  return failed_.add(sequence, why);
}

// Once a call is over, so are all before it: a member starts a call only when the one before has ended.
std::vector<std::unique_ptr<ServedCall>> CallTable::end_through(std::uint32_t sequence) {
  over_through_ = sequence;
  failed_.forget_through(sequence);
  const auto over =
      std::stable_partition(calls_.begin(), calls_.end(), [&](const auto& call) { return !is_over(call->sequence); });
  std::vector<std::unique_ptr<ServedCall>> ended;
  for (auto call = over; call != calls_.end(); ++call) {
    if ((*call)->sequence != sequence) ended.push_back(std::move(*call));
  }
  calls_.erase(over, calls_.end());
  return ended;
}

std::optional<std::uint32_t> CallTable::first() const noexcept {
  std::optional<std::uint32_t> first;
  for (const auto& call : calls_) {
    if (!first || static_cast<std::int32_t>(call->sequence - *first) < 0) first = call->sequence;
  }
  return first;
}

std::vector<std::uint32_t> CallTable::sequences() const {
  std::vector<std::uint32_t> found;
  for (const auto& call : calls_) found.push_back(call->sequence);
  return found;
}

}  // namespace hps
