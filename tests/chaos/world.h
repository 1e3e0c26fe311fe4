// SPDX-License-Identifier: BSD-3-Clause
// World: carries out a schedule in virtual time. Groups open, their members call, each in its own time, and leave;
// faults hit. It writes down what happened; the checker judges.
#ifndef HPS_TESTS_CHAOS_WORLD_H
#define HPS_TESTS_CHAOS_WORLD_H

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "chaos/call.h"
#include "chaos/cluster.h"
#include "chaos/schedule.h"

namespace hps::chaos {

struct MemberState {
  Membership* membership = nullptr;  // while it is open
  std::size_t next_call = 0;
  std::unique_ptr<CallOnMember> running;
  bool opened = false;
  bool closed = false;
};

struct GroupState {
  bool opened = false;
  bool skipped = false;  // a member was dead before it opened
  bool over = false;     // every member that lives has left
  std::vector<MemberState> members;
  std::vector<std::unique_ptr<Call>> calls;
  // Since when a call may fail: a rank that the group needs was lost, or was told something false.
  TimeNs harmed_at = never_ns;
};

struct RankState {
  enum class Life : std::uint8_t { alive, stopped, leaving, left, killed };
  Life life = Life::alive;
  std::vector<std::function<void()>> postponed;  // while it is stopped

  bool survives() const noexcept { return life != Life::killed && life != Life::left; }
};

class World {
 public:
  // `messages`: how many the run without faults delivers; faults come at parts of it. 0 = no faults come. The schedule
  // must outlive the world.
  World(const Schedule& schedule, const Kinds& kinds, std::uint64_t messages);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Prints every message that is delivered, and what the schedule does.
  void trace();
  // Runs until nothing is left to happen. False where that does not come: it was given up.
  bool run();

  const Schedule& schedule() const noexcept { return schedule_; }
  Cluster& cluster() noexcept { return *cluster_; }
  const std::vector<GroupState>& groups() const noexcept { return groups_; }
  const std::vector<RankState>& ranks() const noexcept { return ranks_; }
  // A forged message may have changed anything: only crashes count.
  bool anything_goes() const noexcept { return anything_goes_; }
  // Whether a rank got a message that no rank of the job should have sent.
  bool has_forged() const noexcept { return has_forged_; }

 private:
  using Action = std::function<void()>;

  TimeNs now() { return cluster_->network().now(); }
  void at(TimeNs time, Action action);
  // What is due; the time of the next.
  TimeNs do_actions(TimeNs now);
  // As at(); not done on a dead rank, and later on a stopped one.
  void on_rank(Rank rank, TimeNs time, Action action);
  void do_on_rank(std::uint32_t rank, const Action& action);
  bool fault_is_due();
  bool must_wait(const Fault& fault) const;

  void plan_opening(std::size_t group);
  void open_group(std::size_t group);
  void open_member(std::size_t group, std::uint32_t member, const wire::GroupSpec& spec,
                   const std::vector<std::uint32_t>& handles);
  void plan_next(std::size_t group, std::uint32_t member);
  void start_call(std::size_t group, std::uint32_t member);
  void close_member(std::size_t group, std::uint32_t member);
  void open_next_if_over(std::size_t group);
  bool is_over(std::size_t group) const;
  void after_step(std::uint32_t rank);
  void leave_if_done(std::uint32_t rank);

  void say(const char* what, std::size_t group, std::uint32_t member);
  void inject_next();
  void inject(const Fault& fault);
  void stop(const Fault& fault);
  void stop_for_good(std::uint32_t rank);
  void slow(const Fault& fault);
  void forge_message(const Fault& fault);
  void cut(std::uint32_t rank, std::uint32_t other);
  void kill(std::uint32_t rank, RankState::Life life);
  void say_goodbye(std::uint32_t rank);
  // Every group that needs `rank` (and `other`, where that is a rank) may fail from now on.
  void harm(std::uint32_t rank, std::optional<std::uint32_t> other = {});
  bool needs(std::size_t group, std::uint32_t rank) const;

  const Schedule& schedule_;
  const Kinds kinds_;
  const std::uint64_t messages_;
  std::unique_ptr<Cluster> cluster_;
  std::vector<GroupState> groups_;
  std::vector<RankState> ranks_;
  const Rank clock_;
  std::multimap<TimeNs, Action> actions_;
  std::vector<Fault> faults_;  // to come, the next one last
  bool anything_goes_ = false;
  bool has_forged_ = false;
  bool traces_ = false;
};

}  // namespace hps::chaos

#endif
