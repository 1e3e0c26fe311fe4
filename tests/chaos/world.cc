// SPDX-License-Identifier: BSD-3-Clause
#include "chaos/world.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace hps::chaos {
namespace {

// A run has some thousand events; one that has so many goes round in circles.
constexpr std::uint64_t most_events = 5'000'000;

std::uint64_t call_seed(std::uint64_t seed, std::size_t group, std::size_t call) {
  return seed * 1'000'003 + group * 1009 + call * 101;
}

}  // namespace

World::World(const Schedule& schedule, const Kinds& kinds, std::uint64_t messages)
    : schedule_(schedule),
      kinds_(kinds),
      messages_(messages),
      cluster_(std::make_unique<Cluster>(schedule, [this](std::uint32_t rank) { after_step(rank); })),
      groups_(schedule.groups.size()),
      ranks_(schedule.ranks()),
      clock_(static_cast<Rank>(schedule.ranks())) {
  // One more rank, which no other knows: its timer is the clock of what happens outside HPS.
  cluster_->network().add_rank(0, [this](TimeNs time) { return do_actions(time); });
  if (messages != 0) faults_ = schedule.faults;
  std::stable_sort(faults_.begin(), faults_.end(), [](const auto& a, const auto& b) { return a.place > b.place; });
  for (std::uint32_t rank = 0; rank < ranks_.size() && !faults_.empty(); ++rank) cluster_->tap(rank).keep_messages();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    groups_[g].members.resize(schedule.groups[g].members.size());
    if (schedule.groups[g].after < 0) plan_opening(g);
  }
}

// What a call sends from its buffers must be told before the buffers go.
World::~World() {
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) cluster_->tap(rank).tell_unsent();
}

bool World::fault_is_due() {
  if (faults_.empty() || must_wait(faults_.back())) return false;
  return static_cast<double>(cluster_->network().messages()) >= faults_.back().place * static_cast<double>(messages_);
}

void World::trace() {
  traces_ = true;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) cluster_->tap(rank).print_messages();
}

void World::say(const char* what, std::size_t group, std::uint32_t member) {
  if (!traces_) return;
  std::printf("  %lld ns, rank %d %s (group %zu, member %u, call %zu)\n", static_cast<long long>(now()),
              schedule_.groups[group].members[member], what, group, member,
              groups_[group].members[member].next_call + 1);
}

// Losses wait while groups open, unless Kinds says otherwise.
bool World::must_wait(const Fault& fault) const {
  if (kinds_.groups_after_loss || fault.kind < Fault::Kind::cut) return false;
  return std::any_of(groups_.begin(), groups_.end(), [](const GroupState& group) {
    return group.opened && std::any_of(group.members.begin(), group.members.end(),
                                       [](const MemberState& member) { return !member.opened; });
  });
}

bool World::run() {
  std::uint64_t events = 0;
  const auto after_event = [&] {
    while (fault_is_due()) inject_next();
    return ++events == most_events;
  };
  cluster_->network().run(after_event);
  // Faults whose messages do not come, since others came before them, come late.
  while (!faults_.empty() && events < most_events) {
    inject_next();
    cluster_->network().run(after_event);
  }
  return events < most_events;
}

void World::at(TimeNs time, Action action) {
  actions_.emplace(time, std::move(action));
  cluster_->network().wake(clock_);
}

TimeNs World::do_actions(TimeNs now) {
  while (!actions_.empty() && actions_.begin()->first <= now) {
    const Action action = std::move(actions_.extract(actions_.begin()).mapped());
    action();
  }
  return actions_.empty() ? never_ns : actions_.begin()->first;
}

void World::on_rank(Rank rank, TimeNs time, Action action) {
  const auto index = static_cast<std::uint32_t>(rank);
  at(time, [this, index, does = std::move(action)] { do_on_rank(index, does); });
}

void World::do_on_rank(std::uint32_t rank, const Action& action) {
  RankState& state = ranks_[rank];
  if (!state.survives()) return;
  if (state.life == RankState::Life::stopped) {
    state.postponed.push_back(action);
    return;
  }
  action();
  cluster_->network().wake(static_cast<Rank>(rank));
}

void World::plan_opening(std::size_t group) {
  at(now() + schedule_.groups[group].open_at_ns, [this, group] { open_group(group); });
}

// Members agree on a group over MPI, which is not part of this: it happens at once, where all members live.
void World::open_group(std::size_t group) {
  const GroupPlan& plan = schedule_.groups[group];
  GroupState& state = groups_[group];
  const auto lives = [&](Rank rank) { return ranks_[static_cast<std::size_t>(rank)].survives(); };
  const bool harmed = state.harmed_at != never_ns && !kinds_.groups_after_loss;
  if (harmed || !std::all_of(plan.members.begin(), plan.members.end(), lives)) {
    state.skipped = true;
    return open_next_if_over(group);
  }
  state.opened = true;
  std::vector<std::uint32_t> handles;
  for (std::size_t m = 0; m < plan.members.size(); ++m) {
    state.members[m].membership = cluster_->engine(static_cast<std::uint32_t>(plan.members[m])).add_group();
    handles.push_back(state.members[m].membership->handle());
  }
  const wire::GroupSpec spec = cluster_->spec(plan.members, handles.front());
  for (std::size_t c = 0; c < plan.calls.size(); ++c)
    state.calls.push_back(std::make_unique<Call>(plan.calls[c], spec.layout, call_seed(schedule_.seed, group, c)));
  for (std::uint32_t m = 0; m < plan.members.size(); ++m)
    on_rank(plan.members[m], now() + plan.open_delays_ns[m],
            [this, group, m, spec, handles] { open_member(group, m, spec, handles); });
}

void World::open_member(std::size_t group, std::uint32_t member, const wire::GroupSpec& spec,
                        const std::vector<std::uint32_t>& handles) {
  say("opens", group, member);
  groups_[group].members[member].opened = true;
  // It can fail only where a forged message has described the group before.
  if (!groups_[group].members[member].membership->open(spec, handles).ok()) return close_member(group, member);
  if (member == 0 && schedule_.groups[group].renews)
    groups_[group].members[0].membership->allow_renewal(cluster_->basis(schedule_.groups[group].members));
  plan_next(group, member);
}

// The next call, or the end.
void World::plan_next(std::size_t group, std::uint32_t member) {
  const GroupPlan& plan = schedule_.groups[group];
  const std::size_t next = groups_[group].members[member].next_call;
  const Rank rank = plan.members[member];
  if (next < plan.calls.size())
    on_rank(rank, now() + plan.calls[next].delays_ns[member], [this, group, member] { start_call(group, member); });
  else
    on_rank(rank, now() + plan.close_delays_ns[member], [this, group, member] { close_member(group, member); });
}

void World::start_call(std::size_t group, std::uint32_t member) {
  say("calls", group, member);
  MemberState& state = groups_[group].members[member];
  Call& call = *groups_[group].calls[state.next_call];
  if (call.plan().trouble == CallPlan::Trouble::local_failure && call.plan().odd_member == member) {
    ++state.next_call;
    const Rank self = schedule_.groups[group].members[member];
    state.membership->abort(state.membership->take_sequence(),
                            {Code::invalid_count, "rank " + std::to_string(self) + " cannot take part", self});
    return plan_next(group, member);
  }
  state.running = std::make_unique<CallOnMember>(call, *state.membership, member);
  state.running->start();
}

void World::close_member(std::size_t group, std::uint32_t member) {
  say("closes", group, member);
  MemberState& state = groups_[group].members[member];
  state.closed = true;
  const auto rank = static_cast<std::uint32_t>(schedule_.groups[group].members[member]);
  cluster_->engine(rank).retire(*std::exchange(state.membership, nullptr));
  open_next_if_over(group);
}

// Whether every member that lives has left the group.
bool World::is_over(std::size_t group) const {
  const GroupState& state = groups_[group];
  if (state.skipped) return true;
  for (std::size_t m = 0; m < state.members.size(); ++m) {
    const auto rank = static_cast<std::size_t>(schedule_.groups[group].members[m]);
    if (!state.members[m].closed && ranks_[rank].survives()) return false;
  }
  return state.opened;
}

void World::open_next_if_over(std::size_t group) {
  if (groups_[group].over || !is_over(group)) return;
  groups_[group].over = true;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (schedule_.groups[g].after == static_cast<std::int32_t>(group)) plan_opening(g);
  }
}

void World::after_step(std::uint32_t rank) {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (std::uint32_t m = 0; m < groups_[g].members.size(); ++m) {
      MemberState& member = groups_[g].members[m];
      if (schedule_.groups[g].members[m] != static_cast<Rank>(rank) || !member.running || !member.running->done())
        continue;
      member.running->finish(now());
      say(groups_[g].calls[member.next_call]->outcomes[m].status.to_string().c_str(), g, m);
      member.running.reset();
      ++member.next_call;
      plan_next(g, m);
    }
  }
  if (schedule_.leave_early) leave_if_done(rank);
}

// As a process does that used HPS without HPS_Init, and that ends before others: src/job, finish_implicit.
void World::leave_if_done(std::uint32_t rank) {
  RankState& state = ranks_[rank];
  Engine& engine = cluster_->engine(rank);
  if (state.life == RankState::Life::leaving && engine.said_goodbye() && !engine.busy()) {
    state.life = RankState::Life::left;
    return at(now(), [this, rank] { cluster_->network().kill(static_cast<Rank>(rank)); });
  }
  if (rank >= schedule_.workers || state.life != RankState::Life::alive) return;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (std::size_t m = 0; m < groups_[g].members.size(); ++m) {
      if (schedule_.groups[g].members[m] == static_cast<Rank>(rank) && !groups_[g].members[m].closed &&
          !groups_[g].skipped)
        return;
    }
  }
  if (engine.retiring() || engine.service().groups() != 0 || engine.busy()) return;
  state.life = RankState::Life::leaving;
  engine.say_goodbye();
  cluster_->network().wake(static_cast<Rank>(rank));
}

}  // namespace hps::chaos
