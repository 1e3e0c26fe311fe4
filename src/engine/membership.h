// SPDX-License-Identifier: BSD-3-Clause
// Membership: this process's side of one group: the numbering of calls, the calls under way, and what is done about
// those that fail or stand still.
#ifndef HPS_SRC_ENGINE_MEMBERSHIP_H
#define HPS_SRC_ENGINE_MEMBERSHIP_H

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/call_traces.h"
#include "engine/liveness.h"
#include "engine/operation.h"
#include "engine/owner_links.h"
#include "engine/prober.h"
#include "engine/referee.h"
#include "engine/survey.h"
#include "plan/renewal_policy.h"
#include "summation/service.h"
#include "transport/outbox.h"
#include "util/failed_calls.h"
#include "wire/group_spec.h"
#include "wire/sender.h"

namespace hps {

struct WatchOptions {
  TimeNs report_ns = 20'000'000;  // a call that has stood still for so long is reported to its referee
  Referee::Options referee;
};

// A rank that is not there any more.
struct LostPeer {
  Status why;
  bool has_ended = false;  // in good order
};

// What plans are made of. Member 0 alone needs it, to make new ones when links are found to be faster or slower.
struct PlanBasis {
  std::vector<PlanNode> nodes;
  PlanOptions options;
  std::uint64_t memory_bytes = UINT64_MAX;  // the least that any owner has for all groups
  RenewalPolicy::Options renewal;
  Survey::Options survey;
};

// What a Membership needs of the engine.
struct MembershipContext {
  Rank self = no_rank;
  const TimeNs& now;  // of the engine's last step
  Outbox& outbox;
  Service& service;
  Liveness& liveness;
  Prober& prober;
  const std::map<Rank, LostPeer>& lost;
  WatchOptions watch;
  Log log;
  Trace* trace = nullptr;
};

class Membership;

// What a group leaves behind at a rank that has left it: enough to answer those who wait in calls that it has been
// through, or has not come to.
class GroupRemains {
 public:
  explicit GroupRemains(const Membership& group);
  std::uint32_t handle() const noexcept { return handle_; }

  // Answers an inquiry, or a report of a call that this rank has not come to, or with another signature.
  void answer(Outbox& outbox, const wire::Header& message, const wire::Sender& from) const;

 private:
  std::uint32_t handle_;  // of the group here
  Rank self_;
  std::uint32_t member_;               // this rank's index
  std::optional<std::uint32_t> last_;  // call before it left; nothing while it is in the group
  Referee referee_;
};

class Membership {
 public:
  // `handle` names this group at this process; messages that come before open() are kept.
  Membership(const MembershipContext& context, std::uint32_t handle);
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  std::uint32_t handle() const noexcept { return handle_; }

  // A CPU-only process that calls too (the collective form), and its handle of the group.
  struct Helper {
    Rank rank = no_rank;
    std::uint32_t handle = 0;
  };

  // The group is agreed on. handles[i] is member i's handle of the group. A process that is not in spec.members takes
  // part as an owner only; those that wait for calls are named as helpers. `name`: the communicator's, for messages.
  Status open(wire::GroupSpec spec, std::vector<std::uint32_t> handles, std::vector<Helper> helpers = {},
              std::string name = {});
  bool is_open() const noexcept { return opened_; }
  // From now on member 0, this process, measures links where that is worth it, and makes a new plan where they differ
  // from what the plan says. Where CPU-only ranks call too the plan stays.
  void allow_renewal(PlanBasis basis);
  // Takes leave of every owner. The membership can be destroyed once closed() says so.
  void close();
  bool closed() const noexcept { return closing_ && (!opened_ || (past_.empty() && has_left(*term_))); }

  const wire::GroupSpec& spec() const noexcept { return term_->spec; }
  const Plan& plan() const noexcept { return spec().plan; }
  // Whether the next call waits for a new plan: what it does is to be decided when it starts.
  bool awaits_plan() const noexcept { return renews_after_.has_value(); }
  // This process's index among the members; nothing on a CPU-only rank.
  std::optional<std::uint32_t> self() const noexcept { return self_; }
  std::uint32_t members() const noexcept { return static_cast<std::uint32_t>(spec().members.size()); }
  // Where this process stands in the layout; empty on a CPU-only rank.
  const MemberPlace& place() const noexcept { return place_; }
  bool is_local(std::uint32_t owner) const noexcept { return links().is_local(owner); }

  // Asks all owners for leave to push, before the first call needs it.
  void join_all();
  bool joined_all() const noexcept { return links().joined_all(); }
  // Why the group cannot be used any more; ok while it can.
  const Status& failure() const noexcept { return failure_; }

  // Every call takes a number, also one that does nothing or fails before it starts.
  std::uint32_t take_sequence() noexcept { return ++sequence_; }
  // Starts a call; it stays the caller's, and must be ended with finish() once it is done().
  void start(Operation& operation);
  void finish(Operation& operation);
  // This rank cannot take part in call `sequence`: fails it on all members.
  void abort(std::uint32_t sequence, const Status& why);

  // For operations.
  // Asks `owner` for leave to push, if that has not been done.
  void join(std::uint32_t owner);
  // Whether a push to `owner` may be sent now; else on_progress() tells when to ask again.
  bool may_push(std::uint32_t owner) const noexcept { return links().may_push(owner); }
  Status push(Operation& operation, std::uint32_t owner, std::uint64_t chunk, ConstBytes payload);
  // A push has got its result.
  void answered(const Operation& operation, std::uint32_t owner) noexcept {
    links().answered(owner, operation.sequence());
  }
  Status exchange(Operation& operation, std::uint32_t member, std::uint32_t step, ConstBytes payload,
                  SendCompletion* completion);
  Status post(LocalCall& call, std::uint64_t* chunks_left) {
    return context_.service.post(spec().id, call, chunks_left);
  }
  void withdraw(const LocalCall& call) noexcept { context_.service.withdraw(spec().id, call); }
  // The plan is looked at again after a call: whether this process, member 0, asks for that; it has heard so.
  bool asks_for_renewal(std::uint32_t sequence) noexcept;
  void hear_of_renewal(std::uint32_t sequence) noexcept;

  // Messages for this group.
  Rejection on_message(Rank source, const wire::Header& header, ConstBytes payload, TimeNs now);
  // Looks after calls that stand still: once in WatchOptions::report_ns while all of them move. Returns when it wants
  // to be called again though nothing happens.
  TimeNs step(TimeNs now) { return now < quiet_until_ ? quiet_until_ : look(now); }
  // Whether `peer` is a member or an owner of the group.
  bool involves(Rank peer) const noexcept;
  void on_peer_failed(Rank peer, const Status& why);
  // `peer` has ended in good order: calls that still wait for it fail, and those to come.
  void on_peer_ended(Rank peer, const Status& why);
  // The group cannot be used any more.
  void fail(const Status& why);
  bool active() const noexcept { return !active_.empty(); }

  // Steps of an exchange are numbered below this; the sender's index takes the rest of the header's chunk field.
  static constexpr std::uint32_t max_steps = 64;

 private:
  friend class GroupRemains;
  struct Active {
    Operation* operation = nullptr;
    StallTimer timer;
    Interval looks;  // for lost ranks
    bool reported = false;
    bool told = false;    // all members know, or will, that it has failed
    bool held = false;    // it has not started, as it waits for a new plan
    bool renews = false;  // the plan is looked at again afterwards
  };
  struct Kept {
    Rank source = no_rank;
    wire::Header header;
    std::vector<std::byte> payload;
    TimeNs now = 0;  // when it came
  };

  // A plan in use, and this process's links to its owners.
  struct Term {
    Term(wire::GroupSpec described, const MembershipContext& context, std::uint32_t handle)
        : spec(std::move(described)), links(context.self, handle, context.outbox, context.log) {}
    wire::GroupSpec spec;
    OwnerLinks links;
  };
  // The plan from the call after `after` on.
  struct NextPlan {
    std::uint32_t after = 0;
    std::optional<wire::GroupSpec> spec;  // nothing: as before
  };
  // What member 0 does about new plans.
  struct Renewal {
    explicit Renewal(PlanBasis known) : basis(std::move(known)), policy(basis.renewal) {}
    PlanBasis basis;
    RenewalPolicy policy;
    std::optional<Survey> survey;
    std::uint32_t after = 0;   // which call it began, or did last
    bool has_changed = false;  // the plan, then
    TimeNs since_ns = 0;
    std::uint32_t next_order = 1;
    // Of the call that is timed.
    std::uint32_t timed = 0;
    TimeNs first_result_ns = 0;
  };

  OwnerLinks& links() noexcept { return term_->links; }
  const OwnerLinks& links() const noexcept { return term_->links; }
  Term* term_of(std::uint16_t plan) noexcept;
  Rejection without_term(std::uint16_t plan) const noexcept;
  bool has_left(const Term& term) const noexcept { return term.links.closed(!failure_.ok() || !ended_.empty()); }
  wire::Header header(wire::MessageType type, std::uint32_t handle) const noexcept;
  Active* find_active(std::uint32_t sequence) noexcept;
  Operation* find(std::uint32_t sequence) noexcept;
  // A member is at most one call ahead, so that this is plenty for honest ones.
  std::size_t max_kept() const noexcept { return opened_ ? max_steps + 2 * spec().members.size() : 4096; }
  bool is_past(std::uint32_t sequence) const noexcept { return static_cast<std::int32_t>(sequence - sequence_) <= 0; }

  Rank sender_named_in(const wire::Header& header, ConstBytes payload);
  Rejection on_owners_message(const wire::Header& header, ConstBytes payload);
  Rejection on_join_reply(Term& term, const wire::Header& header, ConstBytes payload);
  Rejection on_revoke(Term& term, const wire::Header& header);
  Rejection on_result(const wire::Header& header, ConstBytes payload);
  Rejection on_exchange(const wire::Header& header, ConstBytes payload);
  Rejection on_abort(const wire::Header& header, ConstBytes payload);
  Rejection on_inquiry(const wire::Header& header, ConstBytes payload);
  Rejection on_report(const wire::Header& header, TimeNs now);
  Rejection keep(Kept message);
  Rejection deliver(Operation& operation, const wire::Header& header, ConstBytes payload);
  void deliver_kept(Operation& operation);
  Rejection and_tell_progress(Rejection why);
  void count(Rejection why) noexcept {
    if (why != Rejection::none) context_.service.counters().reject(why);
  }
  void refused(const Status& why);

  void begin(Active& active);
  // membership_renewal.cc
  void time_result(std::uint32_t sequence) noexcept;
  void time_end(const Operation& operation);
  void begin_renewal(std::uint32_t after, bool is_complete);
  void give_orders();
  Rejection on_measured(const wire::Header& header, ConstBytes payload);
  TimeNs watch_survey(TimeNs now);
  void end_survey();
  Status make_next_plan(Plan* plan);
  void announce(NextPlan next);
  void tell_plan(std::uint32_t member, const NextPlan& next);
  TimeNs request_plan(TimeNs now);
  Rejection on_new_plan(const wire::Header& header, ConstBytes payload);
  Rejection on_plan_request(const wire::Header& header, ConstBytes payload);
  void take_next_plan();
  void change_plan(wire::GroupSpec spec);
  void release_held();

  TimeNs look(TimeNs now);
  bool is_quiet() const noexcept;
  TimeNs watch(Active& active, TimeNs now);
  bool links_pending() const noexcept;
  TimeNs watch_links(TimeNs now);
  void report(std::uint32_t member, std::uint32_t sequence, const wire::Signature& signature);
  bool fails_for_the_ended(const Operation& operation, TimeNs still_ns);
  std::vector<Rank> awaited(const Operation& operation) const;
  void act(const Referee::Action& action, TimeNs now);
  void warn(const Referee::Action& action);

  void tell(Rank peer, const wire::Header& message, std::vector<std::byte> payload);
  void pass_on(std::uint32_t teller, std::uint32_t sequence, const Status& why);
  void tell_members(std::uint32_t sequence, const Status& why);
  void tell_abort(Rank peer, std::uint32_t handle, std::uint32_t sequence, const Status& why, std::uint32_t teller);
  void tell_helpers(std::uint32_t sequence, const Status& why);

  MembershipContext context_;
  std::uint32_t handle_;
  bool opened_ = false;
  bool closing_ = false;
  std::unique_ptr<Term> term_;                 // from open() on
  std::vector<std::unique_ptr<Term>> past_;    // whose owners have not answered this process's leave
  std::unique_ptr<Renewal> renewal_;           // at member 0, where plans may change
  std::optional<std::uint32_t> renews_after_;  // calls after this one wait for a plan
  std::optional<NextPlan> next_plan_;          // that waits for the end of a call
  Interval plan_requests_;
  std::string name_;
  std::optional<std::uint32_t> self_;
  MemberPlace place_;
  std::vector<std::uint32_t> handles_;
  std::vector<Helper> helpers_;
  Referee referee_;
  std::uint32_t sequence_ = 0;
  std::vector<Active> active_;
  std::unique_ptr<CallTraces> traces_;  // where calls are traced
  std::vector<Kept> kept_;
  FailedCalls failed_;      // that others have ended and that have not started here
  TimeNs quiet_until_ = 0;  // there is nothing to look after before
  Interval link_looks_;
  std::uint32_t told_all_of_ = 0;  // the latest call whose failure this rank, as its referee, told all members
  std::vector<Status> ended_;      // members and owners that have ended in good order
  Status failure_;
};

}  // namespace hps

#endif
