// SPDX-License-Identifier: BSD-3-Clause
#include "engine/referee.h"

#include <algorithm>

namespace hps {

using Kind = Referee::Action::Kind;

Status Referee::begin(std::uint32_t sequence, const wire::Signature& signature) {
  own(sequence) = {sequence, signature};
  const auto known = cases_.find(sequence);
  if (known == cases_.end() || known->second.signature == signature) return {};
  const Case& one = known->second;
  return wire::mismatch(members_[of(sequence)], signature, members_[one.first], one.signature, sequence);
}

void Referee::end(std::uint32_t sequence) noexcept {
  if (!is_past(sequence)) ended_ = sequence;
  std::erase_if(cases_, [&](const auto& item) { return is_past(item.first); });
}

wire::Signature Referee::signature_of(std::uint32_t sequence) const noexcept {
  const Own& known = own_[sequence % own_.size()];
  return known.sequence == sequence ? known.signature : wire::Signature();
}

Status Referee::on_report(std::uint32_t sequence, std::uint32_t member, const wire::Signature& signature, TimeNs now) {
  if (signature.collective == wire::Collective::none) return {};
  const std::uint32_t self = of(sequence);
  const wire::Signature mine = signature_of(sequence);
  if (mine.collective != wire::Collective::none && mine != signature)
    return wire::mismatch(members_[member], signature, members_[self], mine, sequence);
  if (is_past(sequence)) return {};
  if (cases_.size() == most_cases && !cases_.contains(sequence)) return {};
  const auto [at, is_new] = cases_.try_emplace(sequence);
  Case& one = at->second;
  if (is_new) {
    one.signature = signature;
    one.first = member;
    one.come.resize(members_.size());
    one.since_ns = now;
    next_ns_ = now;
  }
  one.come[member] = true;
  if (mine.collective != wire::Collective::none) one.come[self] = true;
  if (one.signature == signature) return {};
  return wire::mismatch(members_[member], signature, members_[one.first], one.signature, sequence);
}

Referee::Action Referee::action(Kind kind, std::uint32_t sequence, const Case& one) const {
  Action made{kind, sequence, one.signature, {}};
  for (std::uint32_t member = 0; member < one.come.size(); ++member) {
    if (!one.come[member]) made.missing.push_back(member);
  }
  return made;
}

std::vector<Referee::Action> Referee::look(TimeNs now, TimeNs look_interval_ns) {
  std::vector<Action> actions;
  if (now < next_ns_) return actions;
  next_ns_ = never_ns;
  const TimeNs patience_ns = std::min(options_.inquire_ns, look_interval_ns);
  for (auto& [sequence, one] : cases_) {
    const TimeNs since_ns = one.since_ns;  // clang 14 lets no structured binding into a lambda
    const auto is_due = [&](bool* done, TimeNs after_ns) {
      if (*done) return false;
      *done = now >= since_ns + after_ns;
      if (!*done) next_ns_ = std::min(next_ns_, since_ns + after_ns);
      return *done;
    };
    if (is_due(&one.inquired, options_.inquire_ns)) actions.push_back(action(Kind::inquire, sequence, one));
    if (options_.warn_ns != 0 && is_due(&one.warned, options_.warn_ns))
      actions.push_back(action(Kind::warn, sequence, one));
    if (now >= one.since_ns + patience_ns && one.looks.is_due(now, look_interval_ns))
      actions.push_back(action(Kind::look_for_lost, sequence, one));
    if (look_interval_ns != never_ns)
      next_ns_ = std::min(next_ns_, std::max(one.since_ns + patience_ns, one.looks.next_ns()));
  }
  return actions;
}

}  // namespace hps
