// SPDX-License-Identifier: BSD-3-Clause
#include "summation/service.h"

#include <algorithm>
#include <utility>

#include "wire/abort.h"

namespace hps {

Service::Service(const ServiceOptions& options, wire::Outbox& outbox)
    : options_(options), outbox_(outbox), budget_(options.memory_bytes) {}

Service::~Service() = default;

Status Service::attach(const wire::GroupSpec& spec) {
  std::unique_ptr<Entry>& entry = groups_[spec.id];
  if (!entry) entry = std::make_unique<Entry>();
  entry->attached = true;
  HPS_RETURN_IF_ERROR(set_spec(*entry, spec, wire::hash(wire::encode(spec))));
  admit(*entry);
  return {};
}

void Service::detach(wire::GroupId id) noexcept {
  const auto at = groups_.find(id);
  if (at == groups_.end()) return;
  Entry& entry = *at->second;
  entry.attached = false;
  entry.detached = true;
  if (entry.group) {
    const auto& members = entry.group->spec().members;
    for (std::uint32_t m = 0; m < members.size(); ++m) {
      if (members[m] == options_.self) entry.group->leave(m);
    }
  }
  memory_freed_ = true;
}

Status Service::set_spec(Entry& entry, wire::GroupSpec spec, std::uint64_t spec_hash) {
  if (entry.group) {
    if (entry.spec_hash == spec_hash) return {};
    return {Code::protocol, "two descriptions of one group that differ"};
  }
  entry.spec_hash = spec_hash;
  entry.group = std::make_unique<ServedGroup>(std::move(spec), options_, outbox_, counters_);
  entry.handles.resize(entry.group->members());
  entry.owner_index.resize(entry.group->members());
  return {};
}

void Service::on_join(const wire::Header& header, ConstBytes payload) noexcept {
  wire::Join join;
  if (!wire::decode(payload, &join)) return count_rejected();
  std::unique_ptr<Entry>& entry = groups_[join.id];
  if (!entry) entry = std::make_unique<Entry>();
  if (!entry->group && !join.spec.empty()) set_spec_from(*entry, join);
  entry->waiting.push_back({std::move(join), header.chunk});
  admit(*entry);
}

void Service::set_spec_from(Entry& entry, const wire::Join& join) {
  wire::GroupSpec spec;
  const Status status = wire::decode(join.spec, &spec);
  if (!status.ok() || spec.id != join.id || wire::hash(join.spec) != join.spec_hash) return count_rejected();
  if (Status set = set_spec(entry, std::move(spec), join.spec_hash); !set.ok()) count_rejected();
}

// Up to half of what is free, so that the next group finds something; never less than the least, where that is there.
std::uint32_t Service::affordable_credits(const ServedGroup& group) const noexcept {
  const std::uint64_t each = group.bytes_per_credit();
  const std::uint64_t generous = budget_.available() / 2 / each;
  if (generous >= group.wanted_credits()) return group.wanted_credits();
  if (generous >= group.least_credits()) return static_cast<std::uint32_t>(generous);
  return group.least_credits() <= budget_.available() / each ? group.least_credits() : 0;
}

void Service::admit(Entry& entry) {
  if (!entry.group) return;
  if (entry.credits == 0) {
    const std::uint32_t credits = affordable_credits(*entry.group);
    if (credits != 0 && budget_.reserve(credits * entry.group->bytes_per_credit())) entry.credits = credits;
  }
  answer(entry);
}

// Answers every JOIN that can be answered: with a handle, or with why not. Those that must wait for memory stay.
void Service::answer(Entry& entry) {
  std::vector<WaitingJoin> waiting = std::exchange(entry.waiting, {});
  for (WaitingJoin& one : waiting) {
    if (std::string why = join_error(entry, one.join); !why.empty())
      refuse(entry, one, why);
    else if (entry.credits != 0)
      accept(entry, one);
    else
      entry.waiting.push_back(std::move(one));
  }
}

std::string Service::join_error(const Entry& entry, const wire::Join& join) const {
  const ServedGroup& group = *entry.group;
  if (join.spec_hash != entry.spec_hash) return "its description of the group differs from the first member's";
  if (join.member >= group.members()) return "the group has no such member";
  if (group.has_joined(join.member)) return "it has joined already";
  const std::uint64_t least = group.least_credits() * group.bytes_per_credit();
  if (least > budget_.limit())
    return "HPS_SERVE_MEMORY=" + std::to_string(budget_.limit()) + " is too little for this group; it takes at least " +
           std::to_string(least) + " bytes";
  return {};
}

void Service::accept(Entry& entry, const WaitingJoin& waiting) {
  const std::uint32_t member = waiting.join.member;
  const std::uint32_t handle = handles_.add({&entry, member});
  if (handle == 0) return refuse(entry, waiting, "too many groups");
  if (!entry.group->join(member, waiting.join.reply_handle)) {
    handles_.remove(handle);
    return refuse(entry, waiting, "it has left");
  }
  entry.handles[member] = handle;
  entry.owner_index[member] = waiting.owner_index;
  send_join_reply(entry.group->spec().members[member], waiting, {handle, entry.credits, {}});
}

void Service::refuse(Entry& entry, const WaitingJoin& waiting, const std::string& why) {
  ++counters_.rejected;
  if (waiting.join.member >= entry.group->members()) return;  // nobody to tell
  const Rank to = entry.group->spec().members[waiting.join.member];
  send_join_reply(to, waiting, {0, 0, "rank " + std::to_string(options_.self) + " refused: " + why});
}

void Service::send_join_reply(Rank to, const WaitingJoin& waiting, const wire::JoinReply& reply) {
  wire::Header header;
  header.type = wire::MessageType::join_reply;
  header.handle = waiting.join.reply_handle;
  header.chunk = waiting.owner_index;
  // A member that cannot be reached any more is lost, and on_peer_failed tells so.
  if (Status sent = outbox_.send_copy(to, header, wire::encode(reply)); !sent.ok())
    options_.log.debug("could not answer rank " + std::to_string(to) + ": " + sent.to_string());
}

void Service::on_leave(const wire::Header& header) noexcept {
  Handle* found = handles_.find(header.handle);
  if (found == nullptr) return count_rejected();
  const Handle handle = *found;
  ServedGroup& group = *handle.entry->group;
  group.leave(handle.member);
  handles_.remove(header.handle);
  handle.entry->handles[handle.member] = 0;
  wire::Header reply;
  reply.type = wire::MessageType::leave_reply;
  reply.handle = group.reply_handle(handle.member);
  reply.chunk = handle.entry->owner_index[handle.member];
  if (Status sent = outbox_.send_copy(group.spec().members[handle.member], reply, {}); !sent.ok())
    options_.log.debug("could not answer a leave: " + sent.to_string());
  memory_freed_ = true;
}

void Service::on_push(const wire::Header& header, ConstBytes payload) noexcept {
  Handle* handle = handles_.find(header.handle);
  if (handle == nullptr) return count_rejected();
  handle->entry->group->on_push(handle->member, header, payload);
}

Status Service::post(wire::GroupId id, LocalCall& call, std::uint64_t* chunks_left) {
  const auto at = groups_.find(id);
  if (at == groups_.end() || !at->second->group) return {Code::internal, "a call of a group that is not attached"};
  return at->second->group->post(call, chunks_left);
}

void Service::withdraw(wire::GroupId id, const LocalCall& call) noexcept {
  const auto at = groups_.find(id);
  if (at != groups_.end() && at->second->group) at->second->group->withdraw(call);
}

void Service::cancel(wire::GroupId id, std::uint32_t sequence, const Status& why) noexcept {
  const auto at = groups_.find(id);
  if (at != groups_.end() && at->second->group) at->second->group->cancel(sequence, why);
}

void Service::on_cancel(const wire::Header& header, ConstBytes payload) noexcept {
  Handle* handle = handles_.find(header.handle);
  if (handle == nullptr) return count_rejected();
  handle->entry->group->cancel(header.sequence, wire::decode_abort(payload));
}

void Service::on_peer_failed(Rank peer, const Status& why) noexcept {
  for (auto& [id, entry] : groups_) {
    if (!entry->group) continue;
    const auto& members = entry->group->spec().members;
    for (std::uint32_t m = 0; m < members.size(); ++m) {
      if (members[m] != peer) continue;
      entry->group->fail(why);
      entry->group->leave(m);
      handles_.remove(std::exchange(entry->handles[m], 0));
    }
  }
  memory_freed_ = true;
}

void Service::sum_ready() noexcept {
  if (options_.threads <= 1) return;
  for (auto& [id, entry] : groups_) {
    if (entry->group) entry->group->sum_ready();
  }
}

bool Service::is_drained(const Entry& entry) const noexcept {
  return !entry.attached && entry.waiting.empty() && entry.group && entry.group->drained(entry.detached);
}

void Service::collect() noexcept {
  if (!memory_freed_) return;
  memory_freed_ = false;
  std::erase_if(groups_, [&](const auto& item) {
    const Entry& entry = *item.second;
    if (!is_drained(entry)) {
      // Its last results are still being sent: look again next time.
      if (!entry.attached && entry.group && entry.group->sending()) memory_freed_ = true;
      return false;
    }
    budget_.release(entry.credits * entry.group->bytes_per_credit());
    return true;
  });
  for (auto& [id, entry] : groups_) {
    admit(*entry);
    raise_credits(*entry);
  }
}

// A group that was granted less than it can use gets more once there is more.
void Service::raise_credits(Entry& entry) {
  if (!entry.group || entry.credits == 0) return;
  const ServedGroup& group = *entry.group;
  const std::uint32_t wanted = group.wanted_credits();
  if (entry.credits >= wanted) return;
  const std::uint64_t spare = budget_.available() / 2 / group.bytes_per_credit();
  const auto more = static_cast<std::uint32_t>(std::min<std::uint64_t>(spare, wanted - entry.credits));
  if (more == 0 || !budget_.reserve(more * group.bytes_per_credit())) return;
  entry.credits += more;
  wire::Header header;
  header.type = wire::MessageType::credit;
  header.signature.count = entry.credits;
  for (std::uint32_t m = 0; m < group.members(); ++m) {
    if (!group.has_joined(m) || entry.handles[m] == 0) continue;
    header.handle = group.reply_handle(m);
    header.chunk = entry.owner_index[m];
    if (Status sent = outbox_.send_copy(group.spec().members[m], header, {}); !sent.ok())
      options_.log.debug("could not raise a member's credits: " + sent.to_string());
  }
}

bool Service::sending() const noexcept {
  return std::any_of(groups_.begin(), groups_.end(),
                     [](const auto& item) { return item.second->group && item.second->group->sending(); });
}

}  // namespace hps
