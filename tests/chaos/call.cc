// SPDX-License-Identifier: BSD-3-Clause
#include "chaos/call.h"

#include <algorithm>

namespace hps::chaos {

Call::Call(const CallPlan& plan, Layout layout, std::uint64_t seed)
    : outcomes(plan.delays_ns.size()), plan_(plan), layout_(std::move(layout)), seed_(seed) {}

std::uint64_t Call::count(std::uint32_t member) const noexcept {
  return differs(member) ? plan_.odd_count : plan_.count;
}

const Reduction& Call::reduction(std::uint32_t member) const noexcept {
  return reductions()[differs(member) ? plan_.odd_reduction : plan_.reduction];
}

ByteVector Call::contribution(std::uint32_t member) const {
  return reduction(member).values(seed_ + member, count(member));
}

const ByteVector& Call::expected() {
  if (evaluated_ || plan_.trouble != CallPlan::Trouble::none) return expected_;
  evaluated_ = true;
  std::vector<ByteVector> contributions;
  for (std::uint32_t member = 0; member < outcomes.size(); ++member) contributions.push_back(contribution(member));
  const Reduction& one = reductions()[plan_.reduction];
  expected_ = one.expected(layout_, one.op, contributions);
  return expected_;
}

CallOnMember::CallOnMember(Call& call, Membership& membership, std::uint32_t member)
    : call_(call), membership_(membership), member_(member), send_(call.contribution(member)) {
  before_ = call.plan().in_place ? send_ : ByteVector(send_.size(), untouched);
  buffer_.assign(send_.size() + 2 * guard_bytes, untouched);
  std::copy(before_.begin(), before_.end(), receive());
  const Reduction& one = call.reduction(member);
  const std::byte* send = call.plan().in_place ? receive() : send_.data();
  operation_ = make_allreduce_hetero(membership, {send, receive(), call.count(member), one.datatype, one.op});
}

void CallOnMember::start() {
  call_.outcomes[member_].started = true;
  membership_.start(*operation_);
}

void CallOnMember::finish(TimeNs now) {
  Outcome& outcome = call_.outcomes[member_];
  outcome.finished = true;
  outcome.finished_at = now;
  outcome.status = operation_->status();
  outcome.guards_broken = guards_broken();
  compare(&outcome);
  membership_.finish(*operation_);
  operation_.reset();
}

void CallOnMember::compare(Outcome* outcome) {
  const ByteVector& expected = call_.expected();
  const bool ok = outcome->status.ok();
  if (ok && expected.size() == before_.size() && std::equal(expected.begin(), expected.end(), receive())) return;
  for (std::size_t i = 0; i < before_.size(); ++i) {
    const std::byte got = receive()[i];
    const bool right = i < expected.size() && got == expected[i];
    const bool as_before = got == before_[i];
    outcome->touched_bytes += !as_before;
    outcome->wrong_bytes += !right && (ok || !as_before);
  }
}

bool CallOnMember::guards_broken() const noexcept {
  const auto broken = [](std::byte byte) { return byte != untouched; };
  return std::any_of(buffer_.begin(), buffer_.begin() + guard_bytes, broken) ||
         std::any_of(buffer_.end() - guard_bytes, buffer_.end(), broken);
}

}  // namespace hps::chaos
