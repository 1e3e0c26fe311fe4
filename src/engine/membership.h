// SPDX-License-Identifier: BSD-3-Clause
// Membership: this process's side of one group: the numbering of calls, the calls under way, and what is done about
// those that fail or stand still.
#ifndef HPS_SRC_ENGINE_MEMBERSHIP_H
#define HPS_SRC_ENGINE_MEMBERSHIP_H

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/liveness.h"
#include "engine/operation.h"
#include "engine/owner_links.h"
#include "engine/referee.h"
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

// What a Membership needs of the engine.
struct MembershipContext {
  Rank self = no_rank;
  Outbox& outbox;
  Service& service;
  Liveness& liveness;
  const std::map<Rank, LostPeer>& lost;
  WatchOptions watch;
  Log log;
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
  // Takes leave of every owner. The membership can be destroyed once closed() says so.
  void close();
  bool closed() const noexcept { return closing_ && (!opened_ || links_.closed(!failure_.ok() || !ended_.empty())); }

  const wire::GroupSpec& spec() const noexcept { return spec_; }
  const Plan& plan() const noexcept { return spec_.plan; }
  // This process's index among the members; nothing on a CPU-only rank.
  std::optional<std::uint32_t> self() const noexcept { return self_; }
  std::uint32_t members() const noexcept { return static_cast<std::uint32_t>(spec_.members.size()); }
  // Where this process stands in the layout; empty on a CPU-only rank.
  const MemberPlace& place() const noexcept { return place_; }
  bool is_local(std::uint32_t owner) const noexcept { return links_.is_local(owner); }

  // Asks all owners for leave to push, before the first call needs it.
  void join_all();
  bool joined_all() const noexcept { return links_.joined_all(); }
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
  bool may_push(std::uint32_t owner) const noexcept { return links_.may_push(owner); }
  Status push(Operation& operation, std::uint32_t owner, std::uint64_t chunk, ConstBytes payload);
  // A push has got its result.
  void answered(const Operation& operation, std::uint32_t owner) noexcept {
    links_.answered(owner, operation.sequence());
  }
  Status exchange(Operation& operation, std::uint32_t member, std::uint32_t step, ConstBytes payload,
                  SendCompletion* completion);
  Status post(LocalCall& call, std::uint64_t* chunks_left) {
    return context_.service.post(spec_.id, call, chunks_left);
  }
  void withdraw(const LocalCall& call) noexcept { context_.service.withdraw(spec_.id, call); }

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
    bool told = false;  // all members know, or will, that it has failed
  };
  struct Kept {
    Rank source = no_rank;
    wire::Header header;
    std::vector<std::byte> payload;
    TimeNs now = 0;  // when it came
  };

  wire::Header header(wire::MessageType type, std::uint32_t handle) const noexcept;
  Active* find_active(std::uint32_t sequence) noexcept;
  Operation* find(std::uint32_t sequence) noexcept;
  // A member is at most one call ahead, so that this is plenty for honest ones.
  std::size_t max_kept() const noexcept { return opened_ ? max_steps + 2 * spec_.members.size() : 4096; }
  bool is_past(std::uint32_t sequence) const noexcept { return static_cast<std::int32_t>(sequence - sequence_) <= 0; }

  Rank sender_named_in(const wire::Header& header, ConstBytes payload) const;
  Rejection on_join_reply(const wire::Header& header, ConstBytes payload);
  Rejection on_revoke(const wire::Header& header);
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

  TimeNs look(TimeNs now);
  bool is_quiet() const noexcept;
  TimeNs watch(Active& active, TimeNs now);
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
  wire::GroupSpec spec_;
  std::string name_;
  std::optional<std::uint32_t> self_;
  MemberPlace place_;
  std::vector<std::uint32_t> handles_;
  std::vector<Helper> helpers_;
  OwnerLinks links_;
  Referee referee_;
  std::uint32_t sequence_ = 0;
  std::vector<Active> active_;
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
