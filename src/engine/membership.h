// SPDX-License-Identifier: BSD-3-Clause
// Membership: this process's side of one group: the way to each owner (JOIN, credits, LEAVE), the numbering of calls,
// and the calls under way.
#ifndef HPS_SRC_ENGINE_MEMBERSHIP_H
#define HPS_SRC_ENGINE_MEMBERSHIP_H

#include <map>
#include <optional>
#include <vector>

#include "engine/operation.h"
#include "summation/service.h"
#include "wire/group_spec.h"
#include "wire/outbox.h"

namespace hps {

// What a Membership needs of the engine.
struct MembershipContext {
  Rank self = no_rank;
  wire::Outbox& outbox;
  Service& service;
  Log log;
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
  // part as an owner only; those that wait for calls are named as helpers.
  Status open(wire::GroupSpec spec, std::vector<std::uint32_t> handles, std::vector<Helper> helpers = {});
  bool is_open() const noexcept { return opened_; }
  // Takes leave of every owner. The membership can be destroyed once closed() says so.
  void close() noexcept;
  bool closed() const noexcept;

  const wire::GroupSpec& spec() const noexcept { return spec_; }
  const Plan& plan() const noexcept { return spec_.plan; }
  // This process's index among the members; nothing on a CPU-only rank.
  std::optional<std::uint32_t> self() const noexcept { return self_; }
  std::uint32_t members() const noexcept { return static_cast<std::uint32_t>(spec_.members.size()); }
  bool is_local(std::uint32_t owner) const noexcept { return links_[owner].state == LinkState::local; }

  // Asks all owners for leave to push, before the first call needs it.
  void join_all() noexcept;
  bool joined_all() const noexcept;
  // Why the group cannot be used any more; ok while it can.
  const Status& failure() const noexcept { return failure_; }

  // Every call takes a number, also one that does nothing or fails before it starts.
  std::uint32_t take_sequence() noexcept { return ++sequence_; }
  // Starts a call; it stays the caller's, and must be ended with finish() once it is done().
  void start(Operation& operation) noexcept;
  void finish(Operation& operation) noexcept;
  // This rank cannot take part in call `sequence`: fails it on all members.
  void abort(std::uint32_t sequence, const Status& why) noexcept;

  // For operations.
  // Asks `owner` for leave to push, if that has not been done.
  void join(std::uint32_t owner) noexcept;
  // Whether a push to `owner` may be sent now; else on_progress() tells when to ask again.
  bool may_push(std::uint32_t owner) const noexcept;
  Status push(Operation& operation, std::uint32_t owner, std::uint64_t chunk, ConstBytes payload) noexcept;
  Status exchange(Operation& operation, std::uint32_t member, std::uint32_t step, ConstBytes payload,
                  SendCompletion* completion) noexcept;
  Status post(LocalCall& call, std::uint64_t* chunks_left) {
    return context_.service.post(spec_.id, call, chunks_left);
  }
  void withdraw(const LocalCall& call) noexcept { context_.service.withdraw(spec_.id, call); }

  // Messages for this group. False: the message does not fit.
  bool on_message(const wire::Header& header, ConstBytes payload) noexcept;
  // Whether `peer` is a member or an owner of the group.
  bool involves(Rank peer) const noexcept;
  void on_peer_failed(Rank peer, const Status& why) noexcept;
  bool active() const noexcept { return !operations_.empty(); }

  // Steps of an exchange are numbered below this; the sender's index takes the rest of the header's chunk field.
  static constexpr std::uint32_t max_steps = 64;
  // Exchanges that may wait for their call to start here. A member is at most one call ahead, so that this is plenty
  // for honest peers.
  static constexpr std::size_t max_kept = 4096;

 private:
  enum class LinkState : std::uint8_t { none, local, joining, open, leaving, left };
  struct Link {
    LinkState state = LinkState::none;
    std::uint32_t handle = 0;   // of (group, this member) at the owner
    std::uint32_t credits = 0;  // pushes that may wait there
    std::uint32_t waiting = 0;  // pushes without a result
    std::uint8_t joins = 0;     // without an answer
  };
  struct Kept {
    wire::Header header;
    std::vector<std::byte> payload;
  };

  wire::Header header(wire::MessageType type, std::uint32_t handle) const noexcept;
  Operation* find(std::uint32_t sequence) noexcept;
  bool on_join_reply(const wire::Header& header, ConstBytes payload) noexcept;
  bool on_leave_reply(const wire::Header& header) noexcept;
  bool on_credit(const wire::Header& header) noexcept;
  bool on_result(const wire::Header& header, ConstBytes payload) noexcept;
  bool on_exchange(const wire::Header& header, ConstBytes payload) noexcept;
  bool on_abort(const wire::Header& header, ConstBytes payload) noexcept;
  bool deliver(Operation& operation, const wire::Header& header, ConstBytes payload) noexcept;
  void deliver_kept(Operation& operation) noexcept;
  void tell_progress() noexcept;
  void send_join(std::uint32_t owner, const std::vector<std::byte>& encoded_spec) noexcept;
  void leave(std::uint32_t owner) noexcept;
  void tell(Rank peer, const wire::Header& message, std::vector<std::byte> payload) noexcept;
  void tell_abort(Rank peer, std::uint32_t handle, std::uint32_t sequence, const Status& why) noexcept;
  void tell_helpers(std::uint32_t sequence, const Status& why) noexcept;
  void refused(const Status& why) noexcept;
  void fail(const Status& why) noexcept;

  MembershipContext context_;
  std::uint32_t handle_;
  bool opened_ = false;
  bool closing_ = false;
  wire::GroupSpec spec_;
  std::vector<std::byte> encoded_spec_;  // at member 0, which sends it
  std::uint64_t spec_hash_ = 0;
  std::optional<std::uint32_t> self_;
  std::vector<std::uint32_t> handles_;
  std::vector<Helper> helpers_;
  std::vector<Link> links_;  // by owner
  std::uint32_t sequence_ = 0;
  std::vector<Operation*> operations_;
  std::vector<Kept> kept_;
  std::map<std::uint32_t, Status> aborted_;  // calls that others have aborted and that have not started here
  Status failure_;
};

}  // namespace hps

#endif
