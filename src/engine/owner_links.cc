// SPDX-License-Identifier: BSD-3-Clause
#include "engine/owner_links.h"

#include <algorithm>
#include <utility>

#include "wire/abort.h"
#include "wire/join.h"

namespace hps {

using wire::MessageType;

OwnerLinks::OwnerLinks(Rank self, std::uint32_t handle, Outbox& outbox, const Log& log)
    : self_(self), handle_(handle), outbox_(outbox), log_(log) {}

void OwnerLinks::open(const wire::GroupSpec& spec, std::optional<std::uint32_t> member) {
  std::vector<std::byte> encoded = wire::encode(spec);
  spec_ = &spec;
  member_ = member;
  spec_hash_ = wire::hash(encoded);
  if (member == 0u) encoded_spec_ = std::move(encoded);
  links_.resize(spec.plan.owners.size());
  for (std::uint32_t owner = 0; owner < links_.size(); ++owner) {
    if (rank(owner) == self_) set_state(links_[owner], State::local);
  }
}

void OwnerLinks::set_state(Link& link, State state) noexcept {
  if (is_pending(link.state)) --pending_;
  if (is_pending(state)) ++pending_;
  link.state = state;
}

wire::Header OwnerLinks::header(MessageType type, std::uint32_t owner) const noexcept {
  wire::Header result;
  result.type = type;
  result.plan = spec_->plan.number;
  result.handle = links_[owner].handle;
  result.chunk = owner;
  return result;
}

Status OwnerLinks::join(std::uint32_t owner, std::uint32_t sequence) {
  if (links_[owner].state != State::none || !member_) return {};
  return send_join(owner, sequence, encoded_spec_);
}

Status OwnerLinks::send_join(std::uint32_t owner, std::uint32_t sequence, const std::vector<std::byte>& encoded_spec) {
  wire::Header message = header(MessageType::join, owner);
  message.handle = 0;
  message.sequence = sequence;
  const wire::Join join{spec_->id, *member_, handle_, spec_hash_, encoded_spec};
  HPS_RETURN_IF_ERROR(outbox_.send_copy(rank(owner), message, wire::encode(join)));
  set_state(links_[owner], State::joining);
  links_[owner].wanted = sequence;
  ++links_[owner].joins;
  return {};
}

Status OwnerLinks::join_all() {
  for (std::uint32_t owner = 0; owner < links_.size(); ++owner) HPS_RETURN_IF_ERROR(join(owner, 0));
  return {};
}

bool OwnerLinks::joined_all() const noexcept {
  if (!member_) return true;
  return std::all_of(links_.begin(), links_.end(),
                     [](const Link& link) { return link.state == State::open || link.state == State::local; });
}

Status OwnerLinks::push(std::uint32_t owner, wire::Header message, ConstBytes payload, SendCompletion* completion) {
  Link& link = links_[owner];
  message.handle = link.handle;
  const auto known = std::find_if(link.pushes.begin(), link.pushes.end(),
                                  [&](const Pushes& one) { return one.sequence == message.sequence; });
  Pushes& pushes = known != link.pushes.end() ? *known : link.pushes.emplace_back(Pushes{message.sequence, 0, false});
  HPS_RETURN_IF_ERROR(outbox_.send(rank(owner), message, payload, completion));
  ++pushes.count;
  ++link.waiting;
  return {};
}

void OwnerLinks::answered(std::uint32_t owner, std::uint32_t sequence) noexcept {
  Link& link = links_[owner];
  for (Pushes& pushes : link.pushes) {
    if (pushes.sequence != sequence || pushes.count == 0) continue;
    --link.waiting;
    if (--pushes.count == 0) forget(link, sequence);
    return;
  }
}

void OwnerLinks::forget(Link& link, std::uint32_t sequence) noexcept {
  std::erase_if(link.pushes, [&](const Pushes& pushes) {
    if (pushes.sequence != sequence) return false;
    link.waiting -= pushes.count;
    return true;
  });
}

void OwnerLinks::cancel(std::uint32_t sequence, const Status& why, bool everywhere) {
  failed_call_ = sequence;
  failure_ = why;
  for (std::uint32_t owner = 0; owner < links_.size(); ++owner) {
    Link& link = links_[owner];
    // An owner that has revoked the leave to push knows this member by its old handle still.
    if (link.handle == 0 || link.state == State::leaving || link.state == State::left) continue;
    const auto pushes = std::find_if(link.pushes.begin(), link.pushes.end(),
                                     [&](const Pushes& one) { return one.sequence == sequence; });
    const bool known = pushes != link.pushes.end() && std::exchange(pushes->cancelled, true);
    const bool expected = pushes != link.pushes.end() || link.wanted == sequence;
    if (everywhere || (expected && !known)) send_cancel(owner, sequence);
  }
}

void OwnerLinks::send_cancel(std::uint32_t owner, std::uint32_t sequence) {
  wire::Header message = header(MessageType::cancel, owner);
  message.sequence = sequence;
  if (Status sent = outbox_.send_copy(rank(owner), message, wire::encode_abort(failure_)); !sent.ok())
    log_.debug("could not tell rank " + std::to_string(rank(owner)) + " of a call that failed: " + sent.to_string());
}

// An owner that has not answered may wait for the group's description, which the first member is to send and, where a
// call has failed, perhaps never does. So it is asked once more, with the description.
void OwnerLinks::close() {
  if (std::exchange(closing_, true)) return;
  for (std::uint32_t owner = 0; owner < links_.size(); ++owner) {
    Link& link = links_[owner];
    if (link.state == State::local || link.state == State::left) continue;
    if (link.handle != 0)
      leave(owner);
    else if (link.state == State::joining && !send_join(owner, 0, wire::encode(*spec_)).ok())
      set_state(link, State::left);
  }
}

void OwnerLinks::leave(std::uint32_t owner) {
  Link& link = links_[owner];
  set_state(link, State::leaving);
  // An owner that cannot be reached has nothing left to be told.
  if (!outbox_.send_copy(rank(owner), header(MessageType::leave, owner), {}).ok()) set_state(link, State::left);
}

bool OwnerLinks::closed(bool has_failed) const noexcept {
  return closing_ && std::none_of(links_.begin(), links_.end(), [&](const Link& link) {
           return link.state == State::joining || (link.state == State::leaving && !has_failed);
         });
}

void OwnerLinks::lose(Rank peer) noexcept {
  for (std::uint32_t owner = 0; owner < links_.size(); ++owner) {
    if (rank(owner) != peer) continue;
    set_state(links_[owner], State::left);
    links_[owner].joins = 0;
  }
}

void OwnerLinks::add_awaited(std::vector<Rank>* ranks) const {
  for (std::uint32_t owner = 0; owner < links_.size(); ++owner) {
    if (links_[owner].state == State::joining || links_[owner].state == State::leaving) ranks->push_back(rank(owner));
  }
}

void OwnerLinks::add_awaited(std::uint32_t sequence, std::vector<Rank>* ranks) const {
  for (std::uint32_t owner = 0; owner < links_.size(); ++owner) {
    const Link& link = links_[owner];
    const bool holds = std::any_of(link.pushes.begin(), link.pushes.end(),
                                   [&](const Pushes& pushes) { return pushes.sequence == sequence; });
    if (holds || link.state == State::joining) ranks->push_back(rank(owner));
  }
}

OwnerLinks::Link* OwnerLinks::link_of(const wire::Header& header) noexcept {
  if (header.chunk >= links_.size() || links_[header.chunk].state == State::local) return nullptr;
  return &links_[header.chunk];
}

Rejection OwnerLinks::on_join_reply(const wire::Header& header, ConstBytes payload, Status* refusal) {
  wire::JoinReply reply;
  Link* link = link_of(header);
  if (link == nullptr) return Rejection::unknown_rank;
  if (!wire::decode(payload, &reply)) return Rejection::malformed;
  if (link->joins == 0) return Rejection::late;
  // An answer to a second JOIN may overtake that to the first.
  const bool says_again = reply.handle == 0 && reply.error.empty();
  if (says_again && link->joins == 1 && link->state == State::joining) return Rejection::unexpected;
  --link->joins;
  if (!reply.error.empty()) {
    if (link->state != State::joining || (link->joins != 0 && !closing_)) return Rejection::none;
    // One that was let in before, and whose leave to push was revoked, must still say that it leaves.
    set_state(*link, link->handle == 0 ? State::left : State::none);
    *refusal = Status(Code::peer_failed, reply.error, rank(header.chunk));
    return Rejection::none;
  }
  if (says_again) return Rejection::none;
  link->handle = reply.handle;
  link->credits = reply.credits;
  if (closing_) {
    leave(header.chunk);
  } else if (std::exchange(link->revoked, 0) == reply.handle) {
    set_state(*link, State::none);
  } else {
    set_state(*link, State::open);
    // The call that it was for may have failed meanwhile, and others after it.
    if (link->wanted != 0 && static_cast<std::int32_t>(link->wanted - failed_call_) <= 0 && !failure_.ok())
      send_cancel(header.chunk, link->wanted);
  }
  return Rejection::none;
}

Rejection OwnerLinks::on_leave_reply(const wire::Header& header) noexcept {
  Link* link = link_of(header);
  if (link == nullptr) return Rejection::unknown_rank;
  if (link->state != State::leaving) return Rejection::late;
  set_state(*link, State::left);
  return Rejection::none;
}

Rejection OwnerLinks::on_credit(const wire::Header& header) noexcept {
  Link* link = link_of(header);
  if (link == nullptr) return Rejection::unknown_rank;
  if (header.signature.count > UINT32_MAX) return Rejection::malformed;
  if (link->state != State::open) return Rejection::late;
  link->credits = std::max(link->credits, static_cast<std::uint32_t>(header.signature.count));
  return Rejection::none;
}

Rejection OwnerLinks::on_cancel_reply(const wire::Header& header) noexcept {
  Link* link = link_of(header);
  if (link == nullptr) return Rejection::unknown_rank;
  forget(*link, header.sequence);
  return Rejection::none;
}

Rejection OwnerLinks::on_revoke(const wire::Header& header, bool* revoked) noexcept {
  Link* link = link_of(header);
  if (link == nullptr) return Rejection::unknown_rank;
  if (header.signature.count > UINT32_MAX) return Rejection::malformed;
  const auto handle = static_cast<std::uint32_t>(header.signature.count);
  *revoked = link->state == State::open && link->handle == handle;
  if (*revoked) {
    set_state(*link, State::none);
    link->pushes.clear();
    link->waiting = 0;
  } else if (link->state == State::joining && link->handle != handle) {
    link->revoked = handle;
  }
  return Rejection::none;
}

}  // namespace hps
