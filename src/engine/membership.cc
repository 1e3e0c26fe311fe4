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
    : context_(context), handle_(handle), referee_(context.watch.referee) {
  if (context.trace != nullptr) traces_ = std::make_unique<CallTraces>(*context.trace);
}

Membership::~Membership() = default;

Status Membership::open(wire::GroupSpec spec, std::vector<std::uint32_t> handles, std::vector<Helper> helpers,
                        std::string name) {
  HPS_RETURN_IF_ERROR(context_.service.attach(spec));
  term_ = std::make_unique<Term>(std::move(spec), context_, handle_);
  handles_ = std::move(handles);
  helpers_ = std::move(helpers);
  name_ = std::move(name);
  for (std::uint32_t i = 0; i < members(); ++i) {
    if (this->spec().members[i] == context_.self) self_ = i;
  }
  if (self_) place_ = place_of(*self_, this->spec().layout);
  links().open(this->spec(), self_);
  referee_.open(this->spec().members);
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
  if (Status sent = links().join(owner, sequence_); !sent.ok()) fail(sent);
}

void Membership::join_all() {
  quiet_until_ = 0;
  if (Status sent = links().join_all(); !sent.ok()) fail(sent);
}

void Membership::close() {
  if (std::exchange(closing_, true) || !opened_) return;
  renewal_.reset();  // no call will come that waits for a plan
  next_plan_.reset();
  quiet_until_ = 0;
  context_.service.detach(spec().id);
  links().close();
}

void Membership::start(Operation& operation) {
  quiet_until_ = 0;
  operation.set_sequence(take_sequence());
  const std::uint32_t sequence = operation.sequence();
  if (traces_) traces_->begin(operation, spec().id);
  active_.push_back({&operation, {}, {}, false, false, operation.awaits_plan() && awaits_plan(), false});
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
  if (renewal_ && !awaits_plan() && operation.reaches_all()) active_.back().renews = renewal_->policy.wants_renewal();
  if (!active_.back().held) return begin(active_.back());
  if (!ended_.empty()) abort(sequence, Status(ended_.front()));
}

void Membership::begin(Active& active) {
  Operation& operation = *active.operation;
  active.held = false;
  operation.start();
  // One that needs nobody is over, and has its result.
  if (!ended_.empty() && !operation.ended()) return abort(operation.sequence(), Status(ended_.front()));
  deliver_kept(operation);
}

// A call may have failed of itself: its own send, or its own service.
void Membership::finish(Operation& operation) {
  const std::uint32_t sequence = operation.sequence();
  const Active* own = find_active(sequence);
  if (own != nullptr && !own->told && !operation.status().ok()) abort(sequence, Status(operation.status()));
  const bool renews = own != nullptr && own->renews;
  if (renewal_) time_end(operation);
  if (traces_) traces_->end(operation, plan().number);
  std::erase_if(active_, [&](const Active& active) { return active.operation == &operation; });
  std::erase_if(kept_, [&](const Kept& kept) { return is_past(kept.header.sequence); });
  referee_.end(sequence);
  if (!operation.status().ok()) {
    links().cancel(sequence, operation.status(), false);
    // An owner that ends a call knows of the members only.
    if (self_ == 0u) tell_helpers(sequence, operation.status());
  }
  if (renews) begin_renewal(sequence, operation.status().ok());
  take_next_plan();
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
  message.renews = asks_for_renewal(operation.sequence());
  message.signature = operation.signature();
  SendCompletion* sent = &operation;
  if (traces_) sent = &traces_->push(operation, chunk, plan().owners[owner].rank, payload.size());
  return links().push(owner, message, payload, sent);
}

Status Membership::exchange(Operation& operation, std::uint32_t member, std::uint32_t step, ConstBytes payload,
                            SendCompletion* completion) {
  wire::Header message = header(MessageType::exchange, handles_[member]);
  message.sequence = operation.sequence();
  message.chunk = *self_ * max_steps + step;
  message.signature = operation.signature();
  return context_.outbox.send(spec().members[member], message, payload, completion);
}

// The rank that a message says it is from; no_rank where it names none, as an abort, or one that is not there.
Rank Membership::sender_named_in(const wire::Header& header, ConstBytes payload) {
  const Term* term = term_of(header.plan);
  const auto owner = [&](std::uint32_t index) {
    if (term == nullptr || index >= term->spec.plan.owners.size()) return no_rank;
    return term->spec.plan.owners[index].rank;
  };
  const auto member = [&](std::uint32_t index) { return index < members() ? spec().members[index] : no_rank; };
  wire::Sender sender;
  switch (header.type) {
    case MessageType::join_reply:
    case MessageType::leave_reply:
    case MessageType::credit:
    case MessageType::cancel_reply:
    case MessageType::revoke:
      return owner(header.chunk);
    case MessageType::result:
      return term == nullptr ? no_rank : owner(term->spec.plan.owner_of(header.chunk));
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
    case MessageType::leave_reply:
    case MessageType::cancel_reply:
    case MessageType::credit:
    case MessageType::revoke:
      return on_owners_message(header, payload);
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
    case MessageType::measured:
      return on_measured(header, payload);
    case MessageType::new_plan:
      return self_ == 0u ? on_plan_request(header, payload) : on_new_plan(header, payload);
    default:
      return Rejection::unexpected;
  }
}

Membership::Term* Membership::term_of(std::uint16_t plan) noexcept {
  if (plan == term_->spec.plan.number) return term_.get();
  const auto past =
      std::find_if(past_.begin(), past_.end(), [&](const auto& term) { return term->spec.plan.number == plan; });
  return past == past_.end() ? nullptr : past->get();
}

// Of a plan that was, whose owners have answered the leave, or of one that never was.
Rejection Membership::without_term(std::uint16_t plan) const noexcept {
  return static_cast<std::int16_t>(plan - this->plan().number) < 0 ? Rejection::late : Rejection::unknown_plan;
}

// What owners say of joining, leaving and credits. A term that is past ends with the answers to its leave.
Rejection Membership::on_owners_message(const wire::Header& header, ConstBytes payload) {
  Term* term = term_of(header.plan);
  if (term == nullptr) return without_term(header.plan);
  switch (header.type) {
    case MessageType::join_reply:
      return on_join_reply(*term, header, payload);
    case MessageType::leave_reply:
      return term->links.on_leave_reply(header);
    case MessageType::cancel_reply:
      return and_tell_progress(term->links.on_cancel_reply(header));
    case MessageType::credit:
      return and_tell_progress(term->links.on_credit(header));
    default:
      return on_revoke(*term, header);
  }
}

Rejection Membership::on_join_reply(Term& term, const wire::Header& header, ConstBytes payload) {
  Status refusal;
  const Rejection why = term.links.on_join_reply(header, payload, &refusal);
  if (why != Rejection::none) return why;
  if (!refusal.ok() && &term == term_.get()) refused(refusal);
  return closing_ ? Rejection::none : and_tell_progress(Rejection::none);
}

// Other members may not be refused, and would wait for this one.
void Membership::refused(const Status& why) {
  for (std::size_t i = 0; i < active_.size(); ++i) abort(active_[i].operation->sequence(), why);
  fail(why);
}

Rejection Membership::on_revoke(Term& term, const wire::Header& header) {
  bool revoked = false;
  const Rejection why = term.links.on_revoke(header, &revoked);
  revoked &= &term == term_.get();
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
  if (header.plan != plan().number) return without_term(header.plan);
  if (header.signature != operation->signature()) return Rejection::unexpected;
  operation->count_move();
  if (header.renews) hear_of_renewal(header.sequence);
  if (renewal_) time_result(header.sequence);
  const TimeNs arrived_ns = traces_ ? traces_->now() : 0;
  const Rejection verdict = verdict_of(*operation, operation->on_result(header, payload));
  if (traces_ && verdict == Rejection::none) traces_->result(*operation, header.chunk, arrived_ns);
  return verdict;
}

Rejection Membership::on_exchange(const wire::Header& header, ConstBytes payload) {
  const Active* active = find_active(header.sequence);
  if (active != nullptr && !active->held) return deliver(*active->operation, header, payload);
  if (active == nullptr && is_past(header.sequence)) return Rejection::late;
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
  context_.outbox.note_sender(spec().members[member]);
  operation.count_move();
  if (header.signature == operation.signature())
    return verdict_of(operation, operation.on_exchange(member, header.chunk % max_steps, payload));
  abort(operation.sequence(), wire::mismatch(context_.self, operation.signature(), spec().members[member],
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
    context_.service.cancel(spec().id, sequence, why);
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
      tell_abort(spec().members[referee], handles_[referee], sequence, why, wire::told_to_referee);
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
  context_.service.cancel(spec().id, sequence, why);
  links().cancel(sequence, why, true);
  tell_members(sequence, why);
  tell_helpers(sequence, why);
}

void Membership::tell_members(std::uint32_t sequence, const Status& why) {
  for (std::uint32_t member = 0; member < members(); ++member) {
    if (member != self_) tell_abort(spec().members[member], handles_[member], sequence, why, wire::told_to_all);
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
  if (!opened_) return false;
  const auto is_peer = [&](const PlanOwner& owner) { return owner.rank == peer; };
  const auto is_helper = [&](const Helper& helper) { return helper.rank == peer; };
  return std::find(spec().members.begin(), spec().members.end(), peer) != spec().members.end() ||
         std::any_of(plan().owners.begin(), plan().owners.end(), is_peer) ||
         std::any_of(helpers_.begin(), helpers_.end(), is_helper);
}

void Membership::on_peer_failed(Rank peer, const Status& why) {
  for (const auto& term : past_) term->links.lose(peer);
  if (!involves(peer)) return;
  links().lose(peer);
  fail(why);
}

void Membership::on_peer_ended(Rank peer, const Status& why) {
  for (const auto& term : past_) term->links.lose(peer);
  if (!involves(peer)) return;
  links().lose(peer);
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
