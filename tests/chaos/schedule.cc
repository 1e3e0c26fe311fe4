// SPDX-License-Identifier: BSD-3-Clause
#include "chaos/schedule.h"

#include <numeric>

#include "chaos/dice.h"
#include "chaos/reductions.h"

namespace hps::chaos {
namespace {

using Trouble = CallPlan::Trouble;

constexpr double us = 1e3;
constexpr double ms = 1e6;
// Of one member's contribution: enough for a few windows of most plans, and a run stays a matter of milliseconds.
constexpr std::uint64_t most_bytes = 192 << 10;

void choose_job(Dice& dice, Schedule* schedule) {
  schedule->workers = static_cast<std::uint32_t>(dice.between(1, dice.one_in(3) ? 12 : 6));
  schedule->cpu_only = dice.one_in(3) ? 0 : dice.below(schedule->workers + 1);
  schedule->ranks_a_node = dice.one_in(2) ? 1 : static_cast<std::uint32_t>(dice.between(2, 4));
  const double rate = dice.pick({0.0, 12.5e6, 125e6, 1.25e9});
  const bool differ = dice.one_in(3);
  const std::uint32_t hosts = schedule->hosts_of(schedule->workers) + schedule->hosts_of(schedule->cpu_only);
  for (std::uint32_t host = 0; host < hosts; ++host)
    schedule->rates.push_back(differ ? rate / static_cast<double>(dice.between(1, 4)) : rate);
  schedule->rates_known = rate > 0 && dice.one_in(2);
  schedule->network.delay_ns = dice.magnitude(1 * us, 2 * ms);
  schedule->network.jitter_ns = schedule->network.delay_ns * dice.pick({0, 1, 10});
  schedule->network.seed = dice.next();
}

void choose_plan(Dice& dice, Schedule* schedule) {
  schedule->plan.chunk_bytes = dice.pick({0u, 64u, 256u, 1024u, 4096u});
  schedule->plan.window = dice.one_in(2) ? 0 : static_cast<std::uint32_t>(dice.between(1, 12));
  schedule->plan.latency_s = dice.pick({0.0, 1e-7, 1e-5, 1e-3});
  schedule->plan.max_chunk_bytes = static_cast<std::uint32_t>(schedule->network.max_chunk_bytes);
  schedule->plan.algorithm =
      dice.pick({Algorithm::automatic, Algorithm::automatic, Algorithm::direct, Algorithm::recursive_doubling});
}

std::uint64_t choose_count(Dice& dice, const Schedule& schedule, std::size_t element_bytes) {
  const std::uint64_t chunk = schedule.plan.chunk_bytes != 0 ? schedule.plan.chunk_bytes : 16384;
  const std::uint64_t window = schedule.plan.window != 0 ? schedule.plan.window : 32;
  const std::uint64_t bytes = dice.pick<std::uint64_t>(
      {0, 1, dice.between(2, 100), dice.between(1, 8 * chunk), dice.between(1, 3 * window * chunk)});
  return (std::min(bytes, most_bytes) + element_bytes - 1) / element_bytes;
}

// Most ranks come soon, some much later.
std::vector<TimeNs> choose_delays(Dice& dice, std::size_t members) {
  std::vector<TimeNs> delays(members);
  const double most = dice.pick({1 * us, 100 * us, 5 * ms});
  for (TimeNs& delay : delays) delay = dice.one_in(8) ? dice.magnitude(1 * ms, 200 * ms) : dice.magnitude(1, most);
  return delays;
}

bool by_doubling(const Schedule& schedule) { return schedule.plan.algorithm == Algorithm::recursive_doubling; }

// Another signature. But for recursive doubling, another size may mean other owners or another algorithm.
void choose_mismatch(Dice& dice, const Schedule& schedule, const Kinds& kinds, CallPlan* call) {
  const auto& all = reductions();
  const std::size_t bytes = datatype_bytes(all[call->reduction].datatype);
  call->odd_count = call->count;
  call->odd_reduction = call->reduction;
  const bool any_size = kinds.mismatch_at_owners || by_doubling(schedule);
  if (any_size && dice.one_in(2)) {
    const std::uint64_t other = choose_count(dice, schedule, bytes);
    call->odd_count = other == call->count ? other + 1 : other;
    if (call->odd_count == 0 && !kinds.mismatch_at_owners) call->odd_count = call->count + 1;
    return;
  }
  std::vector<std::size_t> choices;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i != call->reduction && datatype_bytes(all[i].datatype) == bytes) choices.push_back(i);
  }
  call->odd_reduction = choices[dice.below(choices.size())];
}

CallPlan choose_call(Dice& dice, const Schedule& schedule, const Kinds& kinds, std::size_t members, bool troubled) {
  CallPlan call;
  call.reduction = dice.below(reductions().size());
  call.count = choose_count(dice, schedule, datatype_bytes(reductions()[call.reduction].datatype));
  call.in_place = dice.one_in(4);
  call.delays_ns = choose_delays(dice, members);
  if (!troubled || members < 2 || !dice.one_in(4)) return call;
  call.trouble = dice.pick({Trouble::mismatch, Trouble::local_failure});
  if (!kinds.mismatch_at_owners && !by_doubling(schedule)) call.trouble = Trouble::local_failure;
  call.odd_member = dice.below(members);
  if (call.count == 0) call.count = 1;
  if (call.trouble == Trouble::mismatch) choose_mismatch(dice, schedule, kinds, &call);
  return call;
}

std::vector<Rank> choose_members(Dice& dice, std::uint32_t workers) {
  std::vector<Rank> members(workers);
  std::iota(members.begin(), members.end(), 0);
  if (dice.one_in(2)) return members;
  dice.shuffle(members);
  members.resize(dice.between(1, workers));
  if (dice.one_in(2)) std::sort(members.begin(), members.end());
  return members;
}

void choose_groups(Dice& dice, const Kinds& kinds, Schedule* schedule) {
  const std::uint64_t groups = dice.between(1, 4);
  const bool one_at_a_time = dice.one_in(3);
  const bool troubled = dice.one_in(3);
  for (std::uint64_t g = 0; g < groups; ++g) {
    GroupPlan group;
    group.members = choose_members(dice, schedule->workers);
    if (g > 0 && (one_at_a_time || dice.one_in(3)))
      group.after = static_cast<std::int32_t>(one_at_a_time ? g - 1 : dice.below(g));
    group.open_at_ns = dice.one_in(3) ? 0 : dice.magnitude(1 * us, 20 * ms);
    group.open_delays_ns = choose_delays(dice, group.members.size());
    group.close_delays_ns = choose_delays(dice, group.members.size());
    const std::uint64_t calls = dice.between(1, 6);
    for (std::uint64_t c = 0; c < calls; ++c)
      group.calls.push_back(choose_call(dice, *schedule, kinds, group.members.size(), troubled));
    CallPlan& last = group.calls.back();
    if (!kinds.failure_at_the_end) last.trouble = Trouble::none;
    if (!kinds.failure_at_the_end && last.count == 0) last.count = 1;
    schedule->groups.push_back(std::move(group));
  }
  const bool may_be_tight = groups == 1 || one_at_a_time || kinds.tight_memory_for_many;
  schedule->tight_memory = may_be_tight && dice.one_in(3);
}

Fault choose_fault(Dice& dice, const Kinds& kinds, const Schedule& schedule) {
  using Kind = Fault::Kind;
  Fault fault;
  fault.kind = dice.pick({Kind::stop, Kind::stop, Kind::slow, Kind::stray, Kind::random_bytes, Kind::random_fields,
                          Kind::truncate, Kind::duplicate, Kind::flip_signature, Kind::flip_any, Kind::cut, Kind::cut,
                          Kind::kill, Kind::kill, Kind::goodbye});
  fault.place = dice.part();
  fault.rank = dice.below(schedule.ranks());
  fault.other = (fault.rank + 1 + dice.below(std::max(schedule.ranks() - 1, 1u))) % schedule.ranks();
  fault.duration_ns = dice.magnitude(10 * us, 500 * ms);
  fault.random = dice.next();
  if (kinds.time_outs && fault.kind == Kind::stop && fault.random % 4 == 0) fault.duration_ns = never_ns;
  return fault;
}

// Whether something of a group may stay at its owners, and with it their memory.
bool may_leak(const Schedule& schedule) {
  const auto in_trouble = [](const CallPlan& call) { return call.trouble != Trouble::none; };
  const auto harms = [](const Fault& fault) { return fault.kind >= Fault::Kind::flip_signature; };
  return std::any_of(schedule.faults.begin(), schedule.faults.end(), harms) ||
         std::any_of(schedule.groups.begin(), schedule.groups.end(), [&](const GroupPlan& group) {
           return std::any_of(group.calls.begin(), group.calls.end(), in_trouble);
         });
}

}  // namespace

Schedule make_schedule(std::uint64_t seed, const Kinds& kinds) {
  Dice dice(seed);
  Schedule schedule;
  schedule.seed = seed;
  choose_job(dice, &schedule);
  choose_plan(dice, &schedule);
  choose_groups(dice, kinds, &schedule);
  schedule.leave_early = dice.one_in(8) && kinds.leave_early;
  // What a rank has sent arrives before its goodbye: connections keep their order, and take what is under way along.
  if (schedule.leave_early) schedule.network.jitter_ns = 0;
  const std::uint64_t faults = dice.one_in(3) ? 0 : dice.between(1, 4);
  for (std::uint64_t i = 0; i < faults && schedule.ranks() > 1; ++i)
    schedule.faults.push_back(choose_fault(dice, kinds, schedule));
  // Dice of their own, so that the other choices of a seed stay what they were.
  Dice renewals(seed ^ 0x5eed);
  for (GroupPlan& group : schedule.groups) group.renews = kinds.renewals && renewals.one_in(2);
  if (!kinds.leaks_after_failure && schedule.groups.size() > 1 && may_leak(schedule)) schedule.tight_memory = false;
  return schedule;
}

}  // namespace hps::chaos
