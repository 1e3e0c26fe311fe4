// SPDX-License-Identifier: BSD-3-Clause
#include "chaos/checker.h"

#include <algorithm>
#include <sstream>

namespace hps::chaos {
namespace {

using Trouble = CallPlan::Trouble;

class Checker {
 public:
  Checker(World& world, const Kinds& kinds) : world_(world), kinds_(kinds) {}

  std::string run(bool came_to_an_end) {
    // A forged message that nothing tells from an honest one may make a rank wait for what never comes.
    if (world_.anything_goes()) return {};
    if (!came_to_an_end) return "it never came to an end\n";
    for (std::size_t g = 0; g < world_.groups().size(); ++g) check_group(g);
    for (std::uint32_t rank = 0; rank < world_.ranks().size(); ++rank) check_rank(rank);
    return found_.str();
  }

 private:
  Rank rank_of(std::size_t group, std::size_t member) const { return world_.schedule().groups[group].members[member]; }
  bool survives(std::size_t group, std::size_t member) const {
    return world_.ranks()[static_cast<std::size_t>(rank_of(group, member))].survives();
  }
  bool left(std::size_t group, std::size_t member) const {
    return world_.ranks()[static_cast<std::size_t>(rank_of(group, member))].life == RankState::Life::left;
  }

  void check_group(std::size_t group) {
    const GroupState& state = world_.groups()[group];
    if (!state.opened && !state.skipped) found_ << "group " << group << " did not open: one before it did not end\n";
    for (std::size_t c = 0; c < state.calls.size(); ++c) {
      for (std::size_t m = 0; m < state.members.size(); ++m) {
        where_ = "group " + std::to_string(group) + ", call " + std::to_string(c + 1) + ", member " +
                 std::to_string(m) + " (rank " + std::to_string(rank_of(group, m)) + "): ";
        check_outcome(state, *state.calls[c], m);
        if (survives(group, m)) check_ended(*state.calls[c], m, group);
      }
    }
  }

  void check_ended(const Call& call, std::size_t member, std::size_t group) {
    const Outcome& outcome = call.outcomes[member];
    if (!outcome.started || outcome.finished) return;
    found_ << where_ << "hangs";
    for (std::size_t m = 0; m < call.outcomes.size(); ++m) {
      const bool cannot = call.plan().trouble == Trouble::local_failure && call.plan().odd_member == m;
      if (!call.outcomes[m].started && !cannot)
        found_ << "; member " << m << (survives(group, m) || left(group, m) ? " did not come" : " was dead");
    }
    found_ << '\n';
  }

  void check_outcome(const GroupState& group, const Call& call, std::size_t member) {
    const Outcome& outcome = call.outcomes[member];
    if (!outcome.finished) return;
    const bool harmed = outcome.finished_at >= group.harmed_at;
    if (outcome.guards_broken) found_ << where_ << "wrote outside recvbuf\n";
    if (outcome.wrong_bytes != 0)
      found_ << where_ << outcome.wrong_bytes << " bytes are wrong (" << outcome.status.to_string() << ")\n";
    switch (call.plan().trouble) {
      case Trouble::none:
        if (!outcome.status.ok() && !harmed) found_ << where_ << "failed: " << outcome.status.to_string() << '\n';
        break;
      case Trouble::mismatch:
        return check_mismatch(group, call, outcome, harmed);
      case Trouble::local_failure:
        return check_local_failure(call, outcome, harmed);
    }
    if (!outcome.status.ok()) check_names_a_rank(outcome);
  }

  void check_names_a_rank(const Outcome& outcome) {
    if (outcome.status.text().find("rank ") == std::string::npos)
      found_ << where_ << "the error names no rank: " << outcome.status.to_string() << '\n';
  }

  void check_mismatch(const GroupState&, const Call& call, const Outcome& outcome, bool harmed) {
    const bool agreed_to_nothing = call.plan().odd_count == 0 || call.plan().count == 0;
    if (outcome.status.ok() && !agreed_to_nothing) found_ << where_ << "did not fail, though calls do not match\n";
    if (outcome.touched_bytes != 0) found_ << where_ << "touched recvbuf, though calls do not match\n";
    if (outcome.status.ok()) return;
    check_names_a_rank(outcome);
    // Whoever called with no elements may have ended since.
    const bool may_have_ended = agreed_to_nothing && world_.schedule().leave_early;
    if (!harmed && !may_have_ended && outcome.status.code() != Code::mismatch)
      found_ << where_ << "another error than a mismatch: " << outcome.status.to_string() << '\n';
  }

  void check_local_failure(const Call& call, const Outcome& outcome, bool harmed) {
    if (outcome.status.ok() && call.plan().count != 0) found_ << where_ << "did not fail, though a member could not\n";
    if (outcome.touched_bytes != 0) found_ << where_ << "touched recvbuf, though a member could not\n";
    if (!harmed && outcome.status.code() != Code::invalid_count)
      found_ << where_ << "not the member's own error: " << outcome.status.to_string() << '\n';
  }

  void check_rank(std::uint32_t rank) {
    const RankState& state = world_.ranks()[rank];
    Cluster& cluster = world_.cluster();
    where_ = "rank " + std::to_string(rank) + ": ";
    // Else honest jobs would warn.
    const Counters& counters = cluster.engine(rank).service().counters();
    if (!world_.has_forged() && counters.rejected_unusual() != 0)
      found_ << where_ << counters.describe_unusual() << ", though all were honest\n";
    if (!state.survives()) return;
    if (cluster.tap(rank).sends_under_way() != 0) found_ << where_ << "sends that were never told\n";
    if (cluster.engine(rank).busy()) found_ << where_ << "is still busy\n";
    if (something_failed() && !kinds_.leaks_after_failure) return;
    const Service& service = cluster.engine(rank).service();
    if (cluster.engine(rank).retiring()) found_ << where_ << "has groups that never ended their leave\n";
    if (service.groups() != 0) found_ << where_ << "serves " << service.groups() << " groups in the end\n";
    if (service.reserved_bytes() != 0) found_ << where_ << service.reserved_bytes() << " bytes are still reserved\n";
  }

  bool something_failed() const {
    const auto in_trouble = [](const auto& call) { return call->plan().trouble != Trouble::none; };
    return std::any_of(world_.groups().begin(), world_.groups().end(), [&](const GroupState& group) {
      return group.harmed_at != never_ns || std::any_of(group.calls.begin(), group.calls.end(), in_trouble);
    });
  }

  World& world_;
  const Kinds& kinds_;
  std::ostringstream found_;
  std::string where_;
};

}  // namespace

std::string check(World& world, const Kinds& kinds, bool came_to_an_end) {
  return Checker(world, kinds).run(came_to_an_end);
}

}  // namespace hps::chaos
