// SPDX-License-Identifier: BSD-3-Clause
// OwnerLinks: the way of one member of a group to the owners of its chunks: JOIN before the first push, credits, and
// LEAVE. An owner may take the leave to push away (revoke), which makes all pushes undone that have no result.
#ifndef HPS_SRC_ENGINE_OWNER_LINKS_H
#define HPS_SRC_ENGINE_OWNER_LINKS_H

#include <cstdint>
#include <optional>
#include <vector>

#include "transport/outbox.h"
#include "util/counters.h"
#include "util/log.h"
#include "wire/group_spec.h"

namespace hps {

class OwnerLinks {
 public:
  // `self` and `handle`: this process, and its name for the group. References must outlive the links.
  OwnerLinks(Rank self, std::uint32_t handle, Outbox& outbox, const Log& log);

  // The group is known. `member`: this process's index in it; owners alone have none, and no links.
  void open(const wire::GroupSpec& spec, std::optional<std::uint32_t> member);

  bool is_local(std::uint32_t owner) const noexcept { return links_[owner].state == State::local; }
  // Asks `owner` for leave to push call `sequence` (0: none yet), if that has not been done.
  Status join(std::uint32_t owner, std::uint32_t sequence);
  Status join_all();
  bool joined_all() const noexcept;

  // Whether a push to `owner` may be sent now.
  bool may_push(std::uint32_t owner) const noexcept {
    return links_[owner].state == State::open && links_[owner].waiting < links_[owner].credits;
  }
  // Sends a push, whose header this completes.
  Status push(std::uint32_t owner, wire::Header header, ConstBytes payload, SendCompletion* completion);
  // A push has its result.
  void answered(std::uint32_t owner, std::uint32_t sequence) noexcept;
  // A call has failed: tells all owners that may hear of it (`everywhere`), or those that hold pushes of it, or expect
  // some, and do not know. The pushes count until an owner says that they are gone.
  void cancel(std::uint32_t sequence, const Status& why, bool everywhere);

  // Takes leave of every owner.
  void close();
  // All have answered or are lost; an owner that answers a second JOIN later is told then. In a group that has failed
  // an owner may have given this member up, and does not answer a LEAVE; there it is enough that it has been sent.
  bool closed(bool has_failed) const noexcept;
  // `peer` is lost: nothing is waited for from it.
  void lose(Rank peer) noexcept;
  // Whether an owner has not answered a JOIN or a LEAVE; those that have not.
  bool pending() const noexcept { return pending_ != 0; }
  void add_awaited(std::vector<Rank>* ranks) const;
  // The owners with pushes of the call that have no result, or that have not let it in.
  void add_awaited(std::uint32_t sequence, std::vector<Rank>* ranks) const;

  // Messages of owners.
  // *refusal: why the owner does not let this member in; ok where it does.
  Rejection on_join_reply(const wire::Header& header, ConstBytes payload, Status* refusal);
  Rejection on_leave_reply(const wire::Header& header) noexcept;
  Rejection on_credit(const wire::Header& header) noexcept;
  Rejection on_cancel_reply(const wire::Header& header) noexcept;
  // *revoked: whether the leave to push was taken away; not where that was said of an older one.
  Rejection on_revoke(const wire::Header& header, bool* revoked) noexcept;

 private:
  enum class State : std::uint8_t { none, local, joining, open, leaving, left };
  struct Pushes {  // of one call, without a result
    std::uint32_t sequence = 0;
    std::uint32_t count = 0;
    bool cancelled = false;
  };
  struct Link {
    State state = State::none;
    std::uint32_t handle = 0;   // of (group, this member) at the owner; the latest that was given
    std::uint32_t revoked = 0;  // a handle that was revoked before it was heard of
    std::uint32_t credits = 0;  // pushes that may wait there
    std::uint32_t waiting = 0;  // pushes that do
    std::uint32_t wanted = 0;   // the call that it was asked for
    std::uint8_t joins = 0;     // without an answer
    std::vector<Pushes> pushes;
  };

  static bool is_pending(State state) noexcept { return state == State::joining || state == State::leaving; }
  void set_state(Link& link, State state) noexcept;
  wire::Header header(wire::MessageType type, std::uint32_t owner) const noexcept;
  Rank rank(std::uint32_t owner) const noexcept { return spec_->plan.owners[owner].rank; }
  Link* link_of(const wire::Header& header) noexcept;
  Status send_join(std::uint32_t owner, std::uint32_t sequence, const std::vector<std::byte>& encoded_spec);
  void send_cancel(std::uint32_t owner, std::uint32_t sequence);
  void leave(std::uint32_t owner);
  static void forget(Link& link, std::uint32_t sequence) noexcept;

  Rank self_;
  std::uint32_t handle_;
  Outbox& outbox_;
  Log log_;
  const wire::GroupSpec* spec_ = nullptr;
  std::optional<std::uint32_t> member_;
  std::vector<std::byte> encoded_spec_;  // at member 0, which sends it
  std::uint64_t spec_hash_ = 0;
  std::uint32_t pending_ = 0;      // links in a state that an answer ends
  std::vector<Link> links_;        // by owner
  std::uint32_t failed_call_ = 0;  // the latest
  Status failure_;                 // of that call
  bool closing_ = false;
};

}  // namespace hps

#endif
