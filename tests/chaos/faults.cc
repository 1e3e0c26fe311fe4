// SPDX-License-Identifier: BSD-3-Clause
// What faults do to a World.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "chaos/forge.h"
#include "chaos/world.h"

namespace hps::chaos {

void World::inject_next() {
  const Fault fault = faults_.back();
  faults_.pop_back();
  if (ranks_[fault.rank].life != RankState::Life::alive) return;
  if (traces_)
    std::printf("  %lld ns, %s of rank %u\n", static_cast<long long>(now()), name_of(fault.kind), fault.rank);
  inject(fault);
}

void World::inject(const Fault& fault) {
  switch (fault.kind) {
    case Fault::Kind::stop:
      return stop(fault);
    case Fault::Kind::slow:
      return slow(fault);
    case Fault::Kind::cut:
      return cut(fault.rank, fault.other);
    case Fault::Kind::kill:
      return kill(fault.rank, RankState::Life::killed);
    case Fault::Kind::goodbye:
      return say_goodbye(fault.rank);
    default:
      return forge_message(fault);
  }
}

void World::stop(const Fault& fault) {
  const auto rank = static_cast<Rank>(fault.rank);
  if (fault.duration_ns == never_ns) return stop_for_good(fault.rank);
  ranks_[fault.rank].life = RankState::Life::stopped;
  cluster_->network().stop(rank);
  at(now() + fault.duration_ns, [this, rank] {
    RankState& state = ranks_[static_cast<std::size_t>(rank)];
    if (state.life != RankState::Life::stopped) return;
    state.life = RankState::Life::alive;
    cluster_->network().resume(rank);
    for (const Action& action : std::exchange(state.postponed, {})) on_rank(rank, now(), action);
  });
}

// Its connections stand, and it does not answer.
void World::stop_for_good(std::uint32_t rank) {
  harm(rank);
  ranks_[rank].life = RankState::Life::killed;
  cluster_->network().stop(static_cast<Rank>(rank));
  for (std::size_t g = 0; g < groups_.size(); ++g) open_next_if_over(g);
}

void World::slow(const Fault& fault) {
  const std::uint32_t host = schedule_.host(fault.rank);
  cluster_->network().set_rate(host, schedule_.rates[host] / 10);
}

void World::forge_message(const Fault& fault) {
  const std::optional<Captured> message =
      forge(fault, kinds_, schedule_.ranks(), Cluster::token(fault.rank), cluster_->tap(fault.rank).captured());
  if (!message) return;
  has_forged_ = true;
  if (fault.kind == Fault::Kind::flip_any) anything_goes_ = true;
  if (fault.kind == Fault::Kind::flip_signature) harm(fault.rank);
  // A message comes in a buffer of its own size, so that reading past it is found out.
  cluster_->engine(fault.rank).on_message(message->source, message->header, message->payload);
  cluster_->network().wake(static_cast<Rank>(fault.rank));
}

void World::cut(std::uint32_t rank, std::uint32_t other) {
  if (ranks_[other].survives()) {
    harm(rank, other);
    cluster_->network().break_connection(static_cast<Rank>(rank), static_cast<Rank>(other));
  }
}

// Without time-outs those who have no connection to the dead would not learn of it.
void World::kill(std::uint32_t rank, RankState::Life life) {
  harm(rank);
  ranks_[rank].life = life;
  for (std::uint32_t other = 0; other < ranks_.size(); ++other) {
    if (other != rank && !kinds_.time_outs)
      cluster_->network().break_connection(static_cast<Rank>(rank), static_cast<Rank>(other));
  }
  cluster_->network().kill(static_cast<Rank>(rank));
  for (std::size_t g = 0; g < groups_.size(); ++g) open_next_if_over(g);
}

// It ends with calls under way; all that is right of it is that it says so.
void World::say_goodbye(std::uint32_t rank) {
  harm(rank);
  cluster_->engine(rank).say_goodbye();
  cluster_->network().wake(static_cast<Rank>(rank));
  at(now() + 4 * schedule_.network.delay_ns, [this, rank] {
    if (ranks_[rank].survives()) kill(rank, RankState::Life::killed);
  });
}

// Members, and CPU-only ranks, which may own chunks of any group.
bool World::needs(std::size_t group, std::uint32_t rank) const {
  const auto& members = schedule_.groups[group].members;
  return rank >= schedule_.workers ||
         std::find(members.begin(), members.end(), static_cast<Rank>(rank)) != members.end();
}

void World::harm(std::uint32_t rank, std::optional<std::uint32_t> other) {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (needs(g, rank) && (!other || needs(g, *other))) groups_[g].harmed_at = std::min(groups_[g].harmed_at, now());
  }
}

}  // namespace hps::chaos
