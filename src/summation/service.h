// SPDX-License-Identifier: BSD-3-Clause
// Service: the Summation Service of one process. It owns chunks of any number of groups and sums them. It runs on
// worker ranks and CPU-only ranks alike, and needs to know of a group no more than its members' JOIN messages say. It
// has no thread and no clock: it acts when it is told something.
//
// Memory: a group may store contributions once memory for its least credits is reserved; until then its JOINs wait.
// Where groups wait, those that have more than the least, those that are idle, and at last those whose call is younger
// (by number, then by group) must give theirs back and join again. All owners order calls alike, so that two groups
// never wait for each other at two owners.
#ifndef HPS_SRC_SUMMATION_SERVICE_H
#define HPS_SRC_SUMMATION_SERVICE_H

#include <map>
#include <memory>
#include <vector>

#include "summation/served_group.h"
#include "util/handle_table.h"
#include "wire/join.h"

namespace hps {

class Service {
 public:
  // `outbox` must outlive the service.
  Service(const ServiceOptions& options, Outbox& outbox);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // This process is in the group itself: its calls take part through post(), and the group stays until detach().
  Status attach(const wire::GroupSpec& spec);
  void detach(wire::GroupId id);
  // As ServedGroup::post and withdraw; the group must be attached.
  Status post(wire::GroupId id, LocalCall& call, std::uint64_t* chunks_left);
  void withdraw(wire::GroupId id, const LocalCall& call) noexcept;
  // Whether all other members of an attached group have left it.
  bool is_deserted(wire::GroupId id) const noexcept;
  // This process knows that a call of an attached group has failed: what is here of it is dropped.
  void cancel(wire::GroupId id, std::uint32_t sequence, const Status& why);

  // `source`: who sent it, where that is known. Of other messages member_of() tells whose they say they are.
  void on_join(const wire::Header& header, ConstBytes payload, Rank source = no_rank);
  void on_leave(const wire::Header& header);
  void on_push(const wire::Header& header, ConstBytes payload);
  void on_cancel(const wire::Header& header, ConstBytes payload);
  void on_peer_failed(Rank peer, const Status& why);
  // `peer` has ended in good order: it fails the groups that it has not left.
  void on_peer_ended(Rank peer, const Status& why);
  // All groups fail.
  void fail(const Status& why);

  // Whom a handle was given to; no_rank where it stands for nothing.
  Rank member_of(std::uint32_t handle) noexcept;

  // Whether there may be groups that some members have left and others not; and those others. They may be lost without
  // this process having noticed.
  bool has_parting_groups() const noexcept { return parting_; }
  void add_awaited(std::vector<Rank>* ranks);

  // Sums what is complete, where several threads do it. To be called after messages have come.
  void sum_ready();
  // Frees what has drained and serves those who wait for the memory. To be called now and then; cheap when there is
  // nothing to do.
  void collect();

  // Whether results are still being sent.
  bool sending() const noexcept;
  // Groups whose description is known. Of others somebody has asked to be let in, and perhaps never asks again.
  std::size_t groups() const noexcept;
  std::size_t undescribed_groups() const noexcept { return groups_.size() - groups(); }
  std::uint64_t reserved_bytes() const noexcept { return budget_.reserved(); }
  // All of this process: what never gets here is counted by whoever it gets to.
  const Counters& counters() const noexcept { return counters_; }
  Counters& counters() noexcept { return counters_; }

 private:
  struct WaitingJoin {
    std::uint32_t member = 0;
    std::uint32_t reply_handle = 0;
    std::uint64_t spec_hash = 0;
    std::uint32_t owner_index = 0;
    std::uint32_t sequence = 0;  // of the call that is to be pushed
    Rank source = no_rank;       // who sent it, where that is known
  };
  struct Settlement {
    std::uint32_t member = 0;
    std::uint32_t sequence = 0;
  };
  // A group from the first that is heard of it: its spec may not be known yet, nor its memory granted.
  struct Entry {
    std::unique_ptr<ServedGroup> group;  // once the spec is known
    std::uint64_t spec_hash = 0;
    std::uint32_t credits = 0;         // 0 until the memory is granted
    bool comes_back = false;           // it was revoked in the midst of a call
    std::uint64_t returned_bytes = 0;  // taken from it, and to be given back once its last results are sent
    std::uint32_t wanted_call = 0;     // for which a member was let in last; it may not have come yet
    bool attached = false;
    std::vector<WaitingJoin> waiting;
    std::vector<Settlement> unsettled;       // cancelled calls of which results are still being sent
    std::vector<std::uint32_t> handles;      // by member; 0 = not joined
    std::vector<std::uint32_t> owner_index;  // by member: how the member calls this owner

    bool waits_for_memory() const noexcept { return group != nullptr && credits == 0 && !waiting.empty(); }
    // Nothing of it is under way or about to come.
    bool is_idle() const noexcept { return !current_call(); }
    std::optional<std::uint32_t> current_call() const noexcept;
    std::uint64_t least_bytes() const noexcept { return group->least_credits() * group->bytes_per_credit(); }
    std::uint64_t granted_bytes() const noexcept { return credits * group->bytes_per_credit(); }
    std::uint32_t waiting_call() const noexcept;
  };
  struct Handle {
    Entry* entry = nullptr;
    std::uint32_t member = 0;
  };

  void reject_handle(std::uint32_t handle) noexcept;
  Status set_spec(Entry& entry, wire::GroupSpec spec, std::uint64_t spec_hash);
  Rejection set_spec_from(Entry& entry, const wire::Join& join, Rank source);
  std::string join_error(const Entry& entry, const WaitingJoin& join) const;
  bool is_repeated(const Entry& entry, const WaitingJoin& join) const;
  void answer_again(const Entry& entry, const WaitingJoin& join);
  void answer(Entry& entry);
  void accept(Entry& entry, const WaitingJoin& waiting);
  void refuse(Entry& entry, const WaitingJoin& waiting, const std::string& why);
  void send_join_reply(const Entry& entry, Rank to, const WaitingJoin& waiting, const wire::JoinReply& reply);
  void send_to_member(Entry& entry, std::uint32_t member, wire::Header header);
  void lose(Entry& entry, std::uint32_t member, const Status& why);

  // Memory (service_memory.cc).
  void serve_waiting();
  std::vector<Entry*> waiting_by_age();
  bool grant(Entry& entry);
  bool make_room(const Entry& entry);
  bool may_be_revoked(const Entry& holder, const Entry& waiting) const;
  void revoke(Entry& entry);
  void raise_credits(Entry& entry);
  void release_memory(Entry& entry);
  void settle(Entry& entry);
  bool is_drained(const Entry& entry) const noexcept;

  ServiceOptions options_;
  Outbox& outbox_;
  MemoryBudget budget_;
  Counters counters_;
  std::map<wire::GroupId, std::unique_ptr<Entry>> groups_;
  HandleTable<Handle> handles_;
  std::map<Rank, Status> lost_;
  std::map<Rank, Status> ended_;  // in good order
  std::size_t early_joins_ = 0;   // of groups whose spec is not known
  bool memory_changed_ = false;   // some may be free, or somebody may have become idle
  bool parting_ = false;          // a group may have been left by some of its members
  bool somebody_waits_ = false;   // for memory
  std::uint64_t calls_seen_ = 0;  // of counters_.calls, when memory was last looked at
};

}  // namespace hps

#endif
