// SPDX-License-Identifier: BSD-3-Clause
#include "engine/membership.h"

#include <algorithm>
#include <utility>

#include "wire/abort.h"
#include "wire/join.h"

namespace hps {

using wire::MessageType;

Membership::Membership(const MembershipContext& context, std::uint32_t handle) : context_(context), handle_(handle) {}

Membership::~Membership() = default;

Status Membership::open(wire::GroupSpec spec, std::vector<std::uint32_t> handles, std::vector<Helper> helpers) {
  std::vector<std::byte> encoded = wire::encode(spec);
  HPS_RETURN_IF_ERROR(context_.service.attach(spec));
  spec_ = std::move(spec);
  handles_ = std::move(handles);
  helpers_ = std::move(helpers);
  spec_hash_ = wire::hash(encoded);
  for (std::uint32_t i = 0; i < members(); ++i) {
    if (spec_.members[i] == context_.self) self_ = i;
  }
  if (self_ == 0u) encoded_spec_ = std::move(encoded);
  links_.resize(plan().owners.size());
  for (std::size_t owner = 0; owner < links_.size(); ++owner) {
    if (plan().owners[owner].rank == context_.self) links_[owner].state = LinkState::local;
  }
  opened_ = true;
  return {};
}

wire::Header Membership::header(MessageType type, std::uint32_t handle) const noexcept {
  wire::Header result;
  result.type = type;
  result.plan = plan().number;
  result.handle = handle;
  return result;
}

void Membership::join(std::uint32_t owner) noexcept {
  if (links_[owner].state == LinkState::none && self_) send_join(owner, encoded_spec_);
}

void Membership::send_join(std::uint32_t owner, const std::vector<std::byte>& encoded_spec) noexcept {
  links_[owner].state = LinkState::joining;
  ++links_[owner].joins;
  const wire::Join join{spec_.id, *self_, handle_, spec_hash_, encoded_spec};
  wire::Header message = header(MessageType::join, 0);
  message.chunk = owner;
  if (Status sent = context_.outbox.send_copy(plan().owners[owner].rank, message, wire::encode(join)); !sent.ok())
    fail(sent);
}

void Membership::join_all() noexcept {
  for (std::uint32_t owner = 0; owner < links_.size(); ++owner) join(owner);
}

bool Membership::joined_all() const noexcept {
  if (!self_) return true;
  return std::all_of(links_.begin(), links_.end(),
                     [](const Link& link) { return link.state == LinkState::open || link.state == LinkState::local; });
}

// An owner that has not answered may wait for the group's description, which the first member is to send and, where a
// call has failed, perhaps never does. So it is asked once more, with the description.
void Membership::close() noexcept {
  if (closing_) return;
  closing_ = true;
  if (!opened_) return;
  context_.service.detach(spec_.id);
  for (std::uint32_t owner = 0; owner < links_.size(); ++owner) {
    if (links_[owner].state == LinkState::joining) send_join(owner, wire::encode(spec_));
    if (links_[owner].state == LinkState::open) leave(owner);
  }
}

void Membership::leave(std::uint32_t owner) noexcept {
  Link& link = links_[owner];
  link.state = LinkState::leaving;
  wire::Header message = header(MessageType::leave, link.handle);
  message.chunk = owner;
  // An owner that cannot be reached has nothing left to be told.
  if (!context_.outbox.send_copy(plan().owners[owner].rank, message, {}).ok()) link.state = LinkState::left;
}

// A failed group waits for nobody.
bool Membership::closed() const noexcept {
  if (!closing_) return false;
  return !failure_.ok() || std::none_of(links_.begin(), links_.end(), [](const Link& link) {
    return link.state == LinkState::joining || link.state == LinkState::leaving;
  });
}

void Membership::start(Operation& operation) noexcept {
  operation.set_sequence(take_sequence());
  operations_.push_back(&operation);
  if (!failure_.ok()) return abort(operation.sequence(), failure_);
  if (auto aborted = aborted_.extract(operation.sequence())) return operation.fail(aborted.mapped());
  operation.start();
  deliver_kept(operation);
}

void Membership::finish(Operation& operation) noexcept {
  std::erase(operations_, &operation);
  std::erase_if(kept_, [&](const Kept& kept) { return kept.header.sequence == operation.sequence(); });
  if (operation.status().ok()) return;
  // An owner that ends a call knows of the members only.
  if (self_ == 0u) tell_helpers(operation.sequence(), operation.status());
  // What a failed call had waiting at owners is discarded there.
  if (!operations_.empty()) return;
  for (Link& link : links_) link.waiting = 0;
}

Operation* Membership::find(std::uint32_t sequence) noexcept {
  for (Operation* operation : operations_) {
    if (operation->sequence() == sequence) return operation;
  }
  return nullptr;
}

bool Membership::may_push(std::uint32_t owner) const noexcept {
  const Link& link = links_[owner];
  return link.state == LinkState::open && link.waiting < link.credits;
}

Status Membership::push(Operation& operation, std::uint32_t owner, std::uint64_t chunk, ConstBytes payload) noexcept {
  Link& link = links_[owner];
  wire::Header message = header(MessageType::push, link.handle);
  message.sequence = operation.sequence();
  message.chunk = static_cast<std::uint32_t>(chunk);
  message.signature = operation.signature();
  HPS_RETURN_IF_ERROR(context_.outbox.send(plan().owners[owner].rank, message, payload, &operation));
  ++link.waiting;
  return {};
}

Status Membership::exchange(Operation& operation, std::uint32_t member, std::uint32_t step, ConstBytes payload,
                            SendCompletion* completion) noexcept {
  wire::Header message = header(MessageType::exchange, handles_[member]);
  message.sequence = operation.sequence();
  message.chunk = *self_ * max_steps + step;
  message.signature = operation.signature();
  return context_.outbox.send(spec_.members[member], message, payload, completion);
}

bool Membership::on_message(const wire::Header& header, ConstBytes payload) noexcept {
  switch (header.type) {
    case MessageType::join_reply:
      return on_join_reply(header, payload);
    case MessageType::leave_reply:
      return on_leave_reply(header);
    case MessageType::credit:
      return on_credit(header);
    case MessageType::result:
      return on_result(header, payload);
    case MessageType::exchange:
      return on_exchange(header, payload);
    case MessageType::abort:
      return on_abort(header, payload);
    default:
      return false;
  }
}

bool Membership::on_join_reply(const wire::Header& header, ConstBytes payload) noexcept {
  wire::JoinReply reply;
  if (header.chunk >= links_.size() || links_[header.chunk].joins == 0 || !wire::decode(payload, &reply)) return false;
  Link& link = links_[header.chunk];
  --link.joins;
  if (reply.error.empty()) {
    link.state = LinkState::open;
    link.handle = reply.handle;
    link.credits = reply.credits;
  } else if (link.joins == 0 && link.state == LinkState::joining) {
    link.state = LinkState::left;
    refused({Code::peer_failed, reply.error, plan().owners[header.chunk].rank});
  }
  // An owner that was asked twice accepts once; it can let go of the group only when it has answered both.
  if (closing_ && link.joins == 0 && link.state == LinkState::open) leave(header.chunk);
  if (!closing_) tell_progress();
  return true;
}

// Other members may not be refused, and would wait for this one.
void Membership::refused(const Status& why) noexcept {
  for (std::size_t i = 0; i < operations_.size(); ++i) abort(operations_[i]->sequence(), why);
  fail(why);
}

bool Membership::on_leave_reply(const wire::Header& header) noexcept {
  if (header.chunk >= links_.size() || links_[header.chunk].state != LinkState::leaving) return false;
  links_[header.chunk].state = LinkState::left;
  return true;
}

bool Membership::on_credit(const wire::Header& header) noexcept {
  if (header.chunk >= links_.size() || links_[header.chunk].state != LinkState::open) return false;
  links_[header.chunk].credits = static_cast<std::uint32_t>(header.signature.count);
  tell_progress();
  return true;
}

// A call that waits for several things looks at all of them itself.
void Membership::tell_progress() noexcept {
  for (std::size_t i = 0; i < operations_.size(); ++i) operations_[i]->on_progress();
}

bool Membership::on_result(const wire::Header& header, ConstBytes payload) noexcept {
  Operation* operation = find(header.sequence);
  if (operation == nullptr || header.plan != plan().number || header.signature != operation->signature()) return false;
  Link& link = links_[plan().owner_of(header.chunk)];
  if (link.state != LinkState::open || link.waiting == 0) return false;
  --link.waiting;
  if (operation->on_result(header, payload)) return true;
  ++link.waiting;
  return false;
}

bool Membership::on_exchange(const wire::Header& header, ConstBytes payload) noexcept {
  if (Operation* operation = opened_ ? find(header.sequence) : nullptr) return deliver(*operation, header, payload);
  const bool past = static_cast<std::int32_t>(header.sequence - sequence_) <= 0;
  if (past || kept_.size() == max_kept) return false;
  kept_.push_back({header, {payload.begin(), payload.end()}});
  return true;
}

bool Membership::deliver(Operation& operation, const wire::Header& header, ConstBytes payload) noexcept {
  const std::uint32_t member = header.chunk / max_steps;
  if (member >= members() || header.plan != plan().number) return false;
  if (header.signature == operation.signature())
    return operation.on_exchange(member, header.chunk % max_steps, payload);
  abort(operation.sequence(), wire::mismatch(context_.self, operation.signature(), spec_.members[member],
                                             header.signature, operation.sequence()));
  return true;
}

void Membership::deliver_kept(Operation& operation) noexcept {
  const std::vector<Kept> kept = std::exchange(kept_, {});
  for (const Kept& one : kept) {
    if (one.header.sequence == operation.sequence())
      deliver(operation, one.header, one.payload);
    else
      kept_.push_back(one);
  }
}

bool Membership::on_abort(const wire::Header& header, ConstBytes payload) noexcept {
  const Status why = wire::decode_abort(payload);
  if (Operation* operation = find(header.sequence)) {
    operation->fail(why);
    context_.service.cancel(spec_.id, header.sequence, why);
    return true;
  }
  const bool past = static_cast<std::int32_t>(header.sequence - sequence_) <= 0;
  if (past || aborted_.size() == max_kept) return false;
  aborted_.emplace(header.sequence, why);
  return true;
}

void Membership::abort(std::uint32_t sequence, const Status& why) noexcept {
  if (Operation* operation = find(sequence)) operation->fail(why);
  context_.service.cancel(spec_.id, sequence, why);
  for (std::uint32_t owner = 0; owner < links_.size(); ++owner) {
    if (links_[owner].state != LinkState::open) continue;
    wire::Header message = header(MessageType::cancel, links_[owner].handle);
    message.sequence = sequence;
    tell(plan().owners[owner].rank, message, wire::encode_abort(why));
  }
  for (std::uint32_t member = 0; member < members(); ++member) {
    if (member != self_) tell_abort(spec_.members[member], handles_[member], sequence, why);
  }
  tell_helpers(sequence, why);
}

void Membership::tell_helpers(std::uint32_t sequence, const Status& why) noexcept {
  for (const Helper& helper : helpers_) {
    if (helper.rank != context_.self) tell_abort(helper.rank, helper.handle, sequence, why);
  }
}

void Membership::tell_abort(Rank peer, std::uint32_t handle, std::uint32_t sequence, const Status& why) noexcept {
  wire::Header message = header(MessageType::abort, handle);
  message.sequence = sequence;
  tell(peer, message, wire::encode_abort(why));
}

// For what a peer that is lost need not know.
void Membership::tell(Rank peer, const wire::Header& message, std::vector<std::byte> payload) noexcept {
  if (Status sent = context_.outbox.send_copy(peer, message, std::move(payload)); !sent.ok())
    context_.log.debug("could not tell rank " + std::to_string(peer) + " of a call that failed: " + sent.to_string());
}

bool Membership::involves(Rank peer) const noexcept {
  const auto is_peer = [&](const PlanOwner& owner) { return owner.rank == peer; };
  return std::find(spec_.members.begin(), spec_.members.end(), peer) != spec_.members.end() ||
         std::any_of(plan().owners.begin(), plan().owners.end(), is_peer);
}

void Membership::on_peer_failed(Rank peer, const Status& why) noexcept {
  if (involves(peer)) fail(why);
}

void Membership::fail(const Status& why) noexcept {
  if (!failure_.ok()) return;
  failure_ = why;
  // Members without a connection to who was lost learn of it from those who had one.
  for (std::size_t i = 0; i < operations_.size(); ++i) abort(operations_[i]->sequence(), why);
}

}  // namespace hps
