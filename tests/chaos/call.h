// SPDX-License-Identifier: BSD-3-Clause
// Call: one call of a group: what its members contribute and must get, and how it went on each of them. What a member
// has in its hands is a CallOnMember, which goes when the call has ended there.
#ifndef HPS_TESTS_CHAOS_CALL_H
#define HPS_TESTS_CHAOS_CALL_H

#include <memory>
#include <vector>

#include "chaos/reductions.h"
#include "chaos/schedule.h"
#include "coll/select.h"
#include "engine/membership.h"

namespace hps::chaos {

// How a call went on one member.
struct Outcome {
  bool started = false;
  bool finished = false;
  TimeNs finished_at = 0;
  Status status;
  std::uint64_t wrong_bytes = 0;    // ok: not what they should be; an error: neither that nor untouched
  std::uint64_t touched_bytes = 0;  // error: not as they were
  bool guards_broken = false;
};

class Call {
 public:
  Call(const CallPlan& plan, Layout layout, std::uint64_t seed);

  const CallPlan& plan() const noexcept { return plan_; }
  std::uint64_t count(std::uint32_t member) const noexcept;
  const Reduction& reduction(std::uint32_t member) const noexcept;
  ByteVector contribution(std::uint32_t member) const;
  // Empty where the members do not agree on what they call.
  const ByteVector& expected();

  std::vector<Outcome> outcomes;  // by member

 private:
  bool differs(std::uint32_t member) const noexcept {
    return plan_.trouble == CallPlan::Trouble::mismatch && member == plan_.odd_member;
  }

  const CallPlan& plan_;
  const Layout layout_;
  const std::uint64_t seed_;
  bool evaluated_ = false;
  ByteVector expected_;
};

class CallOnMember {
 public:
  CallOnMember(Call& call, Membership& membership, std::uint32_t member);

  void start();
  bool done() const noexcept { return operation_->done(); }
  // Lets go of the call, once it is done, and writes down how it went.
  void finish(TimeNs now);

 private:
  static constexpr std::size_t guard_bytes = 64;
  static constexpr std::byte untouched{0xa5};

  std::byte* receive() noexcept { return buffer_.data() + guard_bytes; }
  void compare(Outcome* outcome);
  bool guards_broken() const noexcept;

  Call& call_;
  Membership& membership_;
  const std::uint32_t member_;
  ByteVector send_;
  ByteVector before_;  // what recvbuf holds before the call
  ByteVector buffer_;  // recvbuf between two guards
  std::unique_ptr<Operation> operation_;
};

}  // namespace hps::chaos

#endif
