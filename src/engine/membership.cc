// SPDX-License-Identifier: BSD-3-Clause
#include "engine/membership.h"

#include <algorithm>
#include <utility>

#include "wire/abort.h"

namespace hps {

using wire::MessageType;

namespace {

// A call that has failed takes nothing more.
Rejection verdict_of(const Operation& operation, bool was_taken) {
  if (was_taken) return Rejection::none;
  return operation.ended() ? Rejection::late : Rejection::unexpected;
}

}  // namespace

Membership::Membership(const MembershipContext& context, std::uint32_t handle)
    : context_(context),
      handle_(handle),
      links_(context.self, handle, context.outbox, context.log),
      referee_(context.watch.referee) {}

Membership::~Membership() = default;

Status Membership::open(wire::GroupSpec spec, std::vector<std::uint32_t> handles, std::vector<Helper> helpers,
                        std::string name) {
  HPS_RETURN_IF_ERROR(context_.service.attach(spec));
  spec_ = std::move(spec);
  handles_ = std::move(handles);
  helpers_ = std::move(helpers);
  name_ = std::move(name);
  for (std::uint32_t i = 0; i < members(); ++i) {
    if (spec_.members[i] == context_.self) self_ = i;
  }
  if (self_) place_ = place_of(*self_, spec_.layout);
  links_.open(spec_, self_);
  referee_.open(spec_.members);
  opened_ = true;
  for (const Kept& early : std::exchange(kept_, {})) {
    count(on_message(early.source, early.header, early.payload, early.now));
  }
  for (const auto& [peer, lost] : context_.lost) {
    if (lost.has_ended)
      on_peer_ended(peer, lost.why);
    else
      on_peer_failed(peer, lost.why);
  }
  return {};
}

wire::Header Membership::header(MessageType type, std::uint32_t handle) const noexcept {
  wire::Header result;
  result.type = type;
  result.plan = plan().number;
  result.handle = handle;
  return result;
}

void Membership::join(std::uint32_t owner) {
  quiet_until_ = 0;
  if (Status sent = links_.join(owner, sequence_); !sent.ok()) fail(sent);
}

void Membership::join_all() {
  quiet_until_ = 0;
  if (Status sent = links_.join_all(); !sent.ok()) fail(sent);
}

void Membership::close() {
  if (std::exchange(closing_, true) || !opened_) return;
  quiet_until_ = 0;
  context_.service.detach(spec_.id);
  links_.close();
}

void Membership::start(Operation& operation) {
  quiet_until_ = 0;
  operation.set_sequence(take_sequence());
  const std::uint32_t sequence = operation.sequence();
  active_.push_back({&operation, {}, {}, false, false});
  const Status differs = referee_.begin(sequence, operation.signature());
  const Status* known = failed_.find(sequence);
  const Status failed = known == nullptr ? Status() : *known;
  failed_.forget_through(sequence);
  if (!failure_.ok()) return abort(sequence, failure_);
  if (!failed.ok()) {
    active_.back().told = true;
    return operation.fail(failed);
  }
  if (!differs.ok()) return abort(sequence, differs);
  operation.start();
  // One that needs nobody is over, and has its result.
  if (!ended_.empty() && !operation.ended()) return abort(sequence, Status(ended_.front()));
  deliver_kept(operation);
}

// A call may have failed of itself: its own send, or its own service.
void Membership::finish(Operation& operation) {
  const std::uint32_t sequence = operation.sequence();
  const Active* own = find_active(sequence);
  if (own != nullptr && !own->told && !operation.status().ok()) abort(sequence, Status(operation.status()));
  std::erase_if(active_, [&](const Active& active) { return active.operation == &operation; });
  std::erase_if(kept_, [&](const Kept& kept) { return is_past(kept.header.sequence); });
  referee_.end(sequence);
  if (operation.status().ok()) return;
  links_.cancel(sequence, operation.status(), false);
  // An owner that ends a call knows of the members only.
  if (self_ == 0u) tell_helpers(sequence, operation.status());
}

Membership::Active* Membership::find_active(std::uint32_t sequence) noexcept {
  for (Active& active : active_) {
    if (active.operation->sequence() == sequence) return &active;
  }
  return nullptr;
}

Operation* Membership::find(std::uint32_t sequence) noexcept {
  const Active* active = find_active(sequence);
  return active == nullptr ? nullptr : active->operation;
}

Status Membership::push(Operation& operation, std::uint32_t owner, std::uint64_t chunk, ConstBytes payload) {
  wire::Header message = header(MessageType::push, 0);
  message.sequence = operation.sequence();
  message.chunk = static_cast<std::uint32_t>(chunk);
  message.signature = operation.signature();
  return links_.push(owner, message, payload, &operation);
}

Status Membership::exchange(Operation& operation, std::uint32_t member, std::uint32_t step, ConstBytes payload,
                            SendCompletion* completion) {
  wire::Header message = header(MessageType::exchange, handles_[member]);
  message.sequence = operation.sequence();
  message.chunk = *self_ * max_steps + step;
  message.signature = operation.signature();
  return context_.outbox.send(spec_.members[member], message, payload, completion);
}

// The rank that a message says it is from; no_rank where it names none, as an abort, or one that is not there.
Rank Membership::sender_named_in(const wire::Header& header, ConstBytes payload) const {
  const auto owner = [&](std::uint32_t index) {
    return index < plan().owners.size() ? plan().owners[index].rank : no_rank;
  };
  const auto member = [&](std::uint32_t index) { return index < members() ? spec_.members[index] : no_rank; };
  wire::Sender sender;
  switch (header.type) {
    case MessageType::join_reply:
    case MessageType::leave_reply:
    case MessageType::credit:
    case MessageType::cancel_reply:
    case MessageType::revoke:
      return owner(header.chunk);
    case MessageType::result:
      return owner(plan().owner_of(header.chunk));
    case MessageType::exchange:
      return member(header.chunk / max_steps);
    case MessageType::report:
      if (header.chunk != members()) return member(header.chunk);
      [[fallthrough]];
    case MessageType::inquiry:
      return wire::decode(payload, &sender) ? sender.rank : no_rank;
    default:
      return no_rank;
  }
}

Rejection Membership::on_message(Rank source, const wire::Header& header, ConstBytes payload, TimeNs now) {
  if (!opened_) return keep({source, header, {payload.begin(), payload.end()}, now});
  if (!may_be_of(sender_named_in(header, payload), source)) return Rejection::wrong_source;
  switch (header.type) {
    case MessageType::join_reply:
      return on_join_reply(header, payload);
    case MessageType::leave_reply:
      return links_.on_leave_reply(header);
    case MessageType::cancel_reply:
      return and_tell_progress(links_.on_cancel_reply(header));
    case MessageType::credit:
      return and_tell_progress(links_.on_credit(header));
    case MessageType::revoke:
      return on_revoke(header);
    case MessageType::result:
      return on_result(header, payload);
    case MessageType::exchange:
      return on_exchange(header, payload);
    case MessageType::abort:
      return on_abort(header, payload);
    case MessageType::inquiry:
      return on_inquiry(header, payload);
    case MessageType::report:
      return on_report(header, now);
    default:
      return Rejection::unexpected;
  }
}

Rejection Membership::on_join_reply(const wire::Header& header, ConstBytes payload) {
  Status refusal;
  const Rejection why = links_.on_join_reply(header, payload, &refusal);
  if (why != Rejection::none) return why;
  if (!refusal.ok()) refused(refusal);
  return closing_ ? Rejection::none : and_tell_progress(Rejection::none);
}

// Other members may not be refused, and would wait for this one.
void Membership::refused(const Status& why) {
  for (std::size_t i = 0; i < active_.size(); ++i) abort(active_[i].operation->sequence(), why);
  fail(why);
}

Rejection Membership::on_revoke(const wire::Header& header) {
  bool revoked = false;
  const Rejection why = links_.on_revoke(header, &revoked);
  for (std::size_t i = 0; revoked && i < active_.size(); ++i) active_[i].operation->on_revoked(header.chunk);
  return why;
}

// A call that waits for several things looks at all of them itself.
Rejection Membership::and_tell_progress(Rejection why) {
  if (why != Rejection::none) return why;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    active_[i].operation->count_move();
    active_[i].operation->on_progress();
  }
  return Rejection::none;
}

Rejection Membership::on_result(const wire::Header& header, ConstBytes payload) {
  Operation* operation = find(header.sequence);
  if (operation == nullptr) return is_past(header.sequence) ? Rejection::late : Rejection::unexpected;
  if (header.plan != plan().number) return Rejection::unknown_plan;
  if (header.signature != operation->signature()) return Rejection::unexpected;
  operation->count_move();
  return verdict_of(*operation, operation->on_result(header, payload));
}

Rejection Membership::on_exchange(const wire::Header& header, ConstBytes payload) {
  if (Operation* operation = find(header.sequence)) return deliver(*operation, header, payload);
  if (is_past(header.sequence)) return Rejection::late;
  return keep({no_rank, header, {payload.begin(), payload.end()}, 0});
}

// What comes ahead of its call, or before the group is open, is kept, once. Several members may tell of one failed
// call.
Rejection Membership::keep(Kept message) {
  if (kept_.size() >= max_kept()) return Rejection::too_many;
  const auto is_same = [&](const Kept& kept) { return kept.header == message.header; };
  if (std::any_of(kept_.begin(), kept_.end(), is_same))
    return message.header.type == MessageType::abort ? Rejection::late : Rejection::duplicate;
  kept_.push_back(std::move(message));
  return Rejection::none;
}

Rejection Membership::deliver(Operation& operation, const wire::Header& header, ConstBytes payload) {
  const std::uint32_t member = header.chunk / max_steps;
  if (member >= members()) return Rejection::unknown_rank;
  if (header.plan != plan().number) return Rejection::unknown_plan;
  context_.outbox.note_sender(spec_.members[member]);
  operation.count_move();
  if (header.signature == operation.signature())
    return verdict_of(operation, operation.on_exchange(member, header.chunk % max_steps, payload));
  abort(operation.sequence(), wire::mismatch(context_.self, operation.signature(), spec_.members[member],
                                             header.signature, operation.sequence()));
  return Rejection::none;
}

void Membership::deliver_kept(Operation& operation) {
  const std::vector<Kept> kept = std::exchange(kept_, {});
  for (const Kept& one : kept) {
    if (one.header.sequence == operation.sequence())
      count(deliver(operation, one.header, one.payload));
    else
      kept_.push_back(one);
  }
}

Rejection Membership::on_abort(const wire::Header& header, ConstBytes payload) {
  const Status why = wire::decode_abort(payload);
  const std::uint32_t sequence = header.sequence;
  if (Active* active = find_active(sequence)) {
    active->told = true;
    active->operation->fail(why);
    context_.service.cancel(spec_.id, sequence, why);
  } else if (!is_past(sequence) && !failed_.add(sequence, why)) {
    return Rejection::too_many;
  }
  pass_on(header.chunk, sequence, why);
  // Whom another has lost the whole group has lost.
  if (failure_.ok() && why.code() == Code::peer_failed && involves(why.who())) {
    failure_ = why;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      active_[i].told = true;
      active_[i].operation->fail(why);
    }
  }
  return Rejection::none;
}

void Membership::pass_on(std::uint32_t teller, std::uint32_t sequence, const Status& why) {
  if (teller == wire::told_to_all || !self_) return;
  const std::uint32_t referee = referee_.of(sequence);
  if (referee != *self_) {
    if (teller == wire::told_by_owner)
      tell_abort(spec_.members[referee], handles_[referee], sequence, why, wire::told_to_referee);
  } else if (std::exchange(told_all_of_, sequence) != sequence) {
    tell_members(sequence, why);
    tell_helpers(sequence, why);
  }
}

void Membership::abort(std::uint32_t sequence, const Status& why) {
  if (Active* active = find_active(sequence)) {
    active->told = true;
    active->operation->fail(why);
  }
  context_.service.cancel(spec_.id, sequence, why);
  links_.cancel(sequence, why, true);
  tell_members(sequence, why);
  tell_helpers(sequence, why);
}

void Membership::tell_members(std::uint32_t sequence, const Status& why) {
  for (std::uint32_t member = 0; member < members(); ++member) {
    if (member != self_) tell_abort(spec_.members[member], handles_[member], sequence, why, wire::told_to_all);
  }
}

void Membership::tell_helpers(std::uint32_t sequence, const Status& why) {
  for (const Helper& helper : helpers_) {
    if (helper.rank != context_.self) tell_abort(helper.rank, helper.handle, sequence, why, wire::told_to_all);
  }
}

void Membership::tell_abort(Rank peer, std::uint32_t handle, std::uint32_t sequence, const Status& why,
                            std::uint32_t teller) {
  wire::Header message = header(MessageType::abort, handle);
  message.sequence = sequence;
  message.chunk = teller;
  tell(peer, message, wire::encode_abort(why));
}

// For what a peer that is lost need not know.
void Membership::tell(Rank peer, const wire::Header& message, std::vector<std::byte> payload) {
  if (Status sent = context_.outbox.send_copy(peer, message, std::move(payload)); !sent.ok())
    context_.log.debug("could not tell rank " + std::to_string(peer) +
                       " of a call that fails or stands still: " + sent.to_string());
}

bool Membership::involves(Rank peer) const noexcept {
  const auto is_peer = [&](const PlanOwner& owner) { return owner.rank == peer; };
  const auto is_helper = [&](const Helper& helper) { return helper.rank == peer; };
  return std::find(spec_.members.begin(), spec_.members.end(), peer) != spec_.members.end() ||
         std::any_of(plan().owners.begin(), plan().owners.end(), is_peer) ||
         std::any_of(helpers_.begin(), helpers_.end(), is_helper);
}

void Membership::on_peer_failed(Rank peer, const Status& why) {
  if (!involves(peer)) return;
  links_.lose(peer);
  fail(why);
}

void Membership::on_peer_ended(Rank peer, const Status& why) {
  if (!involves(peer)) return;
  links_.lose(peer);
  quiet_until_ = 0;
  ended_.push_back(why);
}

void Membership::fail(const Status& why) {
  if (!failure_.ok()) return;
  failure_ = why;
  // Members without a connection to who was lost learn of it from those who had one.
  for (std::size_t i = 0; i < active_.size(); ++i) abort(active_[i].operation->sequence(), why);
}

}  // namespace hps
