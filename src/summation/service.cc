// SPDX-License-Identifier: BSD-3-Clause
#include "summation/service.h"

#include <algorithm>
#include <utility>

#include "wire/abort.h"

namespace hps {
namespace {

// JOINs that may wait for their group's description, over all groups: more than any job has under way, and little
// memory.
constexpr std::size_t max_early_joins = 1u << 16;

// Calls that a member may have cancelled while results of the group are being sent: more than honest ones reach.
constexpr std::size_t max_unsettled = 256;

wire::Header header_of(wire::MessageType type) {
  wire::Header header;
  header.type = type;
  return header;
}

// Whether a member's JOIN may come from `source`. A member that does not exist is told apart later.
bool is_of(const wire::GroupSpec& spec, std::uint32_t member, Rank source) {
  return member >= spec.members.size() || may_be_of(spec.members[member], source);
}

}  // namespace

Service::Service(const ServiceOptions& options, Outbox& outbox)
    : options_(options), outbox_(outbox), budget_(options.memory_bytes) {}

Service::~Service() = default;

Status Service::attach(const wire::GroupSpec& spec) {
  std::unique_ptr<Entry>& entry = groups_[spec.id];
  if (!entry) entry = std::make_unique<Entry>();
  HPS_RETURN_IF_ERROR(set_spec(*entry, spec, wire::hash(wire::encode(spec))));
  entry->attached = true;
  answer(*entry);
  return {};
}

void Service::detach(wire::GroupId id) {
  const auto at = groups_.find(id);
  if (at == groups_.end()) return;
  Entry& entry = *at->second;
  entry.attached = false;
  if (entry.group) {
    if (const auto member = entry.group->index_of(options_.self)) entry.group->leave(*member);
    parting_ = true;
  }
  memory_changed_ = true;
}

Status Service::set_spec(Entry& entry, wire::GroupSpec spec, std::uint64_t spec_hash) {
  if (entry.group) {
    if (entry.spec_hash == spec_hash) return {};
    return {Code::protocol, "two descriptions of one group that differ"};
  }
  early_joins_ -= entry.waiting.size();
  entry.spec_hash = spec_hash;
  entry.group = std::make_unique<ServedGroup>(std::move(spec), options_, outbox_, counters_);
  entry.handles.resize(entry.group->members());
  entry.owner_index.resize(entry.group->members());
  for (const auto& [rank, why] : lost_) {
    if (const auto member = entry.group->index_of(rank)) lose(entry, *member, why);
  }
  return {};
}

void Service::on_join(const wire::Header& header, ConstBytes payload, Rank source) {
  wire::Join join;
  if (!wire::decode(payload, &join)) return counters_.reject(Rejection::malformed);
  const auto known = groups_.find(join.id);
  const bool is_early = join.spec.empty() && (known == groups_.end() || !known->second->group);
  if (is_early && early_joins_ == max_early_joins) return counters_.reject(Rejection::too_many);
  std::unique_ptr<Entry>& entry = groups_[join.id];
  if (!entry) entry = std::make_unique<Entry>();
  if (const Rejection why = set_spec_from(*entry, join, source); why != Rejection::none) {
    counters_.reject(why);
    if (!entry->group && entry->waiting.empty() && !entry->attached) groups_.erase(join.id);
    return;
  }
  if (is_early) ++early_joins_;
  entry->waiting.push_back({join.member, join.reply_handle, join.spec_hash, header.chunk, header.sequence, source});
  answer(*entry);
}

// A description that differs from the one known is the sender's error, and it is told so by the hash that it names.
Rejection Service::set_spec_from(Entry& entry, const wire::Join& join, Rank source) {
  if (entry.group || join.spec.empty()) return Rejection::none;
  wire::GroupSpec spec;
  if (!wire::decode(join.spec, &spec).ok()) return Rejection::malformed;
  if (spec.id != join.id || wire::hash(join.spec) != join.spec_hash) return Rejection::malformed;
  if (!is_of(spec, join.member, source)) return Rejection::wrong_source;
  return set_spec(entry, std::move(spec), join.spec_hash).ok() ? Rejection::none : Rejection::malformed;
}

// Answers every JOIN that can be answered: with a handle, or with why not. Those that must wait for memory stay. One
// that another than the member sent has no answer: the member would take it for its own.
void Service::answer(Entry& entry) {
  if (!entry.group) return;
  std::vector<WaitingJoin> waiting;
  for (const WaitingJoin& one : std::exchange(entry.waiting, {})) {
    if (!is_of(entry.group->spec(), one.member, one.source))
      counters_.reject(Rejection::wrong_source);
    else if (is_repeated(entry, one))
      answer_again(entry, one);
    else if (std::string why = join_error(entry, one); !why.empty())
      refuse(entry, one, why);
    else
      waiting.push_back(one);
  }
  entry.waiting = std::move(waiting);
  if (entry.waits_for_memory()) serve_waiting();
  if (entry.credits == 0) return;
  for (const WaitingJoin& one : std::exchange(entry.waiting, {})) {
    if (is_repeated(entry, one))
      answer_again(entry, one);
    else
      accept(entry, one);
  }
}

// Of a member that has joined: its first JOIN has been answered, and a refusal might come before that answer.
bool Service::is_repeated(const Entry& entry, const WaitingJoin& join) const {
  return join.member < entry.group->members() && entry.group->has_joined(join.member);
}

void Service::answer_again(const Entry& entry, const WaitingJoin& join) {
  counters_.reject(Rejection::late);
  send_join_reply(entry, entry.group->spec().members[join.member], join, {0, 0, options_.self, {}});
}

std::string Service::join_error(const Entry& entry, const WaitingJoin& join) const {
  const ServedGroup& group = *entry.group;
  if (join.spec_hash != entry.spec_hash) return "its description of the group differs from the first member's";
  if (join.member >= group.members()) return "the group has no such member";
  if (group.spec().members[join.member] == options_.self) return "it is this rank, which needs no leave to push";
  if (!group.failure().ok()) return group.failure().text();
  if (group.has_left(join.member)) return "it has left";
  if (entry.least_bytes() > budget_.limit())
    return "HPS_SERVE_MEMORY=" + std::to_string(budget_.limit()) + " is too little for this group; it takes at least " +
           std::to_string(entry.least_bytes()) + " bytes";
  return {};
}

void Service::accept(Entry& entry, const WaitingJoin& waiting) {
  // Its JOIN came before its end, and waited.
  const auto ended = ended_.find(entry.group->spec().members[waiting.member]);
  if (ended != ended_.end()) return lose(entry, waiting.member, ended->second);
  const std::uint32_t handle = handles_.add({&entry, waiting.member});
  if (handle == 0) return refuse(entry, waiting, "too many groups");
  ++counters_.joins;
  entry.group->join(waiting.member, waiting.reply_handle);
  handles_.remove(std::exchange(entry.handles[waiting.member], handle));
  entry.owner_index[waiting.member] = waiting.owner_index;
  entry.wanted_call = waiting.sequence;
  send_join_reply(entry, entry.group->spec().members[waiting.member], waiting,
                  {handle, entry.credits, options_.self, {}});
}

void Service::refuse(Entry& entry, const WaitingJoin& waiting, const std::string& why) {
  memory_changed_ = true;  // if nobody else wants the group it goes
  const bool is_member = waiting.member < entry.group->members();
  const Rank to = is_member ? entry.group->spec().members[waiting.member] : no_rank;
  // Nobody to tell, or this process, which has not asked.
  if (to == no_rank || to == options_.self) return counters_.reject(Rejection::unknown_rank);
  ++counters_.refused;
  send_join_reply(entry, to, waiting,
                  {0, 0, options_.self, "rank " + std::to_string(options_.self) + " refused: " + why});
}

void Service::send_join_reply(const Entry& entry, Rank to, const WaitingJoin& waiting, const wire::JoinReply& reply) {
  wire::Header header = header_of(wire::MessageType::join_reply);
  header.plan = entry.group->spec().plan.number;
  header.handle = waiting.reply_handle;
  header.chunk = waiting.owner_index;
  // A member that cannot be reached any more is lost, and on_peer_failed tells so.
  if (Status sent = outbox_.send_copy(to, header, wire::encode(reply)); !sent.ok())
    options_.log.debug("could not answer rank " + std::to_string(to) + ": " + sent.to_string());
}

// For what a member that has joined, or had, is to know.
void Service::send_to_member(Entry& entry, std::uint32_t member, wire::Header header) {
  header.plan = entry.group->spec().plan.number;
  header.handle = entry.group->reply_handle(member);
  header.chunk = entry.owner_index[member];
  const Rank to = entry.group->spec().members[member];
  if (Status sent = outbox_.send_copy(to, header, {}); !sent.ok())
    options_.log.debug("could not tell rank " + std::to_string(to) + ": " + sent.to_string());
}

// A member may not know yet that its handle is gone: its group was revoked, or has failed.
void Service::reject_handle(std::uint32_t handle) noexcept {
  counters_.reject(handles_.was_given_out(handle) ? Rejection::late : Rejection::unknown_group);
}

void Service::on_leave(const wire::Header& header) {
  Handle* found = handles_.find(header.handle);
  if (found == nullptr) return reject_handle(header.handle);
  const auto [entry, member] = *found;
  entry->group->leave(member);
  parting_ = true;
  handles_.remove(header.handle);
  entry->handles[member] = 0;
  std::erase_if(entry->waiting, [&, entry = entry, m = member](const WaitingJoin& one) {
    if (one.member != m) return false;
    answer_again(*entry, one);
    return true;
  });
  send_to_member(*entry, member, header_of(wire::MessageType::leave_reply));
  memory_changed_ = true;
}

void Service::on_push(const wire::Header& header, ConstBytes payload) {
  Handle* handle = handles_.find(header.handle);
  if (handle == nullptr) return reject_handle(header.handle);
  handle->entry->group->on_push(handle->member, header, payload);
}

Rank Service::member_of(std::uint32_t handle) noexcept {
  const Handle* found = handles_.find(handle);
  return found == nullptr ? no_rank : found->entry->group->spec().members[found->member];
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

bool Service::is_deserted(wire::GroupId id) const noexcept {
  const auto at = groups_.find(id);
  return at != groups_.end() && at->second->group && at->second->group->is_deserted();
}

void Service::cancel(wire::GroupId id, std::uint32_t sequence, const Status& why) {
  const auto at = groups_.find(id);
  if (at != groups_.end() && at->second->group) at->second->group->cancel(sequence, why);
}

// A member that is told to be lost by another member may not have lost its connection to this process: a stopped one.
void Service::on_cancel(const wire::Header& header, ConstBytes payload) {
  Handle* handle = handles_.find(header.handle);
  if (handle == nullptr) return reject_handle(header.handle);
  const auto [entry, member] = *handle;
  const Status why = wire::decode_abort(payload);
  entry->group->cancel(header.sequence, why);
  const auto lost = why.code() == Code::peer_failed ? entry->group->index_of(why.who()) : std::nullopt;
  if (lost && *lost != member) lose(*entry, *lost, why);
  if (entry->unsettled.size() == max_unsettled * entry->group->members()) return counters_.reject(Rejection::too_many);
  entry->unsettled.push_back({member, header.sequence});
  settle(*entry);
}

// Answers those who have cancelled a call, once nothing of it takes memory here.
void Service::settle(Entry& entry) {
  if (entry.unsettled.empty()) return;
  memory_changed_ = true;
  if (entry.group->sending()) return;
  wire::Header header = header_of(wire::MessageType::cancel_reply);
  for (const Settlement& one : std::exchange(entry.unsettled, {})) {
    header.sequence = one.sequence;
    if (entry.group->is_present(one.member)) send_to_member(entry, one.member, header);
  }
}

void Service::on_peer_failed(Rank peer, const Status& why) {
  lost_.emplace(peer, why);
  for (auto& [id, entry] : groups_) {
    if (!entry->group) continue;
    if (const auto member = entry->group->index_of(peer)) lose(*entry, *member, why);
  }
}

void Service::on_peer_ended(Rank peer, const Status& why) {
  ended_.emplace(peer, why);
  for (auto& [id, entry] : groups_) {
    if (!entry->group) continue;
    const auto member = entry->group->index_of(peer);
    if (member && entry->group->is_present(*member)) lose(*entry, *member, why);
  }
}

void Service::fail(const Status& why) {
  for (auto& [id, entry] : groups_) {
    if (entry->group) entry->group->fail(why);
  }
}

void Service::lose(Entry& entry, std::uint32_t member, const Status& why) {
  entry.group->fail(why);
  entry.group->leave(member);
  parting_ = true;
  handles_.remove(std::exchange(entry.handles[member], 0));
  std::erase_if(entry.unsettled, [&](const Settlement& one) { return one.member == member; });
  answer(entry);
  memory_changed_ = true;
}

void Service::add_awaited(std::vector<Rank>* ranks) {
  parting_ = false;
  for (const auto& [id, entry] : groups_) {
    if (!entry->group || !entry->group->is_parting()) continue;
    parting_ = true;
    for (std::uint32_t m = 0; m < entry->group->members(); ++m) {
      if (entry->group->is_present(m)) ranks->push_back(entry->group->spec().members[m]);
    }
  }
}

void Service::sum_ready() {
  if (options_.threads <= 1) return;
  for (auto& [id, entry] : groups_) {
    if (entry->group) entry->group->sum_ready();
  }
}

std::size_t Service::groups() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(groups_.begin(), groups_.end(), [](const auto& item) { return item.second->group != nullptr; }));
}

bool Service::sending() const noexcept {
  return std::any_of(groups_.begin(), groups_.end(),
                     [](const auto& item) { return item.second->group && item.second->group->sending(); });
}

}  // namespace hps
