// SPDX-License-Identifier: BSD-3-Clause
// The Summation Service's memory: who is granted some, who must give some back, and what is free again.
#include <algorithm>
#include <utility>

#include "summation/service.h"

namespace hps {
namespace {

bool is_older(std::uint32_t call, std::uint32_t than) { return static_cast<std::int32_t>(call - than) < 0; }

}  // namespace

// One that was let in for a call is about to push it.
std::optional<std::uint32_t> Service::Entry::current_call() const noexcept {
  if (const auto first = group->first_call()) return first;
  if (credits == 0 || wanted_call == 0 || group->is_settled(wanted_call)) return std::nullopt;
  return wanted_call;
}

// A group that wants memory ahead of any call waits as its first call would.
std::uint32_t Service::Entry::waiting_call() const noexcept {
  std::uint32_t oldest = waiting.front().sequence;
  for (const WaitingJoin& one : waiting) {
    if (is_older(one.sequence, oldest)) oldest = one.sequence;
  }
  return current_call().value_or(oldest);
}

std::vector<Service::Entry*> Service::waiting_by_age() {
  std::vector<Entry*> waiting;
  for (auto& [id, entry] : groups_) {
    if (entry->waits_for_memory() && entry->returned_bytes == 0) waiting.push_back(entry.get());
  }
  // Stable, for groups_ is in the order of ids, which decides between calls of one number.
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const Entry* a, const Entry* b) { return is_older(a->waiting_call(), b->waiting_call()); });
  return waiting;
}

// Whoever can be let in is; for the others room is made. One for which none can be made holds up nobody.
void Service::serve_waiting() {
  for (Entry* entry : waiting_by_age()) {
    if (grant(*entry)) continue;
    if (make_room(*entry) && !grant(*entry)) break;  // it is the next to get what is being given back
  }
  const auto waits = [](const auto& item) { return item.second->waits_for_memory(); };
  somebody_waits_ = std::any_of(groups_.begin(), groups_.end(), waits);
}

// Up to half of what is free, so that the next group finds something; the least alone where others wait too.
bool Service::grant(Entry& entry) {
  const ServedGroup& group = *entry.group;
  const auto is_waiting = [&](const auto& item) {
    return item.second.get() != &entry && (item.second->waits_for_memory() || item.second->comes_back);
  };
  const std::uint64_t each = group.bytes_per_credit();
  std::uint64_t credits = group.least_credits();
  if (!std::any_of(groups_.begin(), groups_.end(), is_waiting))
    credits = std::clamp<std::uint64_t>(budget_.available() / 2 / each, credits, group.wanted_credits());
  if (!budget_.reserve(credits * each)) return false;
  entry.credits = static_cast<std::uint32_t>(credits);
  entry.comes_back = false;
  entry.group->set_credits(entry.credits);
  if (!entry.waiting.empty()) answer(entry);
  return true;
}

// One that has more than the least comes back for that, and finds it.
bool Service::may_be_revoked(const Entry& holder, const Entry& waiting) const {
  if (holder.credits == 0) return false;
  if (holder.is_idle()) return true;
  if (budget_.available() + holder.granted_bytes() >= holder.least_bytes() + waiting.least_bytes()) return true;
  const std::uint32_t its = *holder.current_call();
  const std::uint32_t ours = waiting.waiting_call();
  return its == ours ? waiting.group->spec().id < holder.group->spec().id : is_older(ours, its);
}

// Takes memory from others until the entry's least is free or about to be; touches nobody where that cannot be.
bool Service::make_room(const Entry& entry) {
  std::vector<Entry*> holders;
  std::uint64_t coming = budget_.available();
  std::uint64_t possible = 0;
  for (auto& [id, holder] : groups_) {
    coming += holder->returned_bytes;
    if (holder.get() == &entry || !holder->group || !may_be_revoked(*holder, entry)) continue;
    possible += holder->granted_bytes();
    holders.push_back(holder.get());
  }
  if (coming + possible < entry.least_bytes()) return false;
  std::stable_partition(holders.begin(), holders.end(), [](const Entry* holder) { return holder->is_idle(); });
  for (Entry* holder : holders) {
    if (coming >= entry.least_bytes()) break;
    coming += holder->granted_bytes();
    revoke(*holder);
  }
  return true;
}

// Its members ask to be let in again when they have something to push, and get new handles then: what they have sent
// under the old ones finds nobody.
void Service::revoke(Entry& entry) {
  wire::Header header;
  header.type = wire::MessageType::revoke;
  for (std::uint32_t m = 0; m < entry.group->members(); ++m) {
    if (!entry.group->has_joined(m)) continue;
    header.signature.count = entry.handles[m];  // which leave it is: the answer to the JOIN may come after this
    send_to_member(entry, m, header);
  }
  entry.returned_bytes += entry.granted_bytes();
  entry.comes_back = !entry.is_idle();
  entry.credits = 0;
  entry.group->revoke();
  release_memory(entry);
}

void Service::release_memory(Entry& entry) {
  if (entry.returned_bytes == 0) return;
  memory_changed_ = true;
  if (entry.group->holds_memory()) return;
  entry.group->trim();
  budget_.release(std::exchange(entry.returned_bytes, 0));
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
  entry.group->set_credits(entry.credits);
  wire::Header header;
  header.type = wire::MessageType::credit;
  header.signature.count = entry.credits;
  for (std::uint32_t m = 0; m < group.members(); ++m) {
    if (group.has_joined(m)) send_to_member(entry, m, header);
  }
}

bool Service::is_drained(const Entry& entry) const noexcept {
  return !entry.attached && entry.waiting.empty() && entry.group && entry.group->drained();
}

void Service::collect() {
  const bool call_ended = std::exchange(calls_seen_, counters_.calls) != counters_.calls;
  if (!memory_changed_ && !(somebody_waits_ && call_ended)) return;
  memory_changed_ = false;
  std::erase_if(groups_, [&](const auto& item) {
    Entry& entry = *item.second;
    if (!entry.group) return false;
    settle(entry);
    release_memory(entry);
    if (!is_drained(entry)) {
      // Its last results are still being sent: look again next time.
      if (!entry.attached && entry.group->sending()) memory_changed_ = true;
      return false;
    }
    budget_.release(entry.granted_bytes() + entry.returned_bytes);
    return true;
  });
  serve_waiting();
  if (somebody_waits_) return;
  for (auto& [id, entry] : groups_) raise_credits(*entry);
}

}  // namespace hps
