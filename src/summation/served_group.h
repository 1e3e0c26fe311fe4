// SPDX-License-Identifier: BSD-3-Clause
// ServedGroup: what an owner does for one group: it knows who has joined and which calls are under way, and sums
// chunks.
//
// A chunk is summed when all contributions to it are there, in one pass over them and in the order of the canonical
// tree. With one thread that is at once: the last to arrive is read where the transport left it, the others wait in
// slots. With several threads complete chunks wait for sum_ready(), which sums them side by side. Results go out from
// buffers of the service. What a member may have waiting is bounded by its credits; the memory that they stand for may
// be taken away again (revoke), for members keep their input until they have the result and push it again.
#ifndef HPS_SRC_SUMMATION_SERVED_GROUP_H
#define HPS_SRC_SUMMATION_SERVED_GROUP_H

#include <optional>
#include <utility>
#include <vector>

#include "summation/call_table.h"
#include "summation/chunk_store.h"
#include "summation/local_call.h"
#include "summation/tree.h"
#include "transport/outbox.h"
#include "util/counters.h"
#include "util/log.h"
#include "util/trace.h"
#include "wire/group_spec.h"

namespace hps {

struct ServiceOptions {
  Rank self = no_rank;
  std::uint64_t memory_bytes = 0;
  std::uint32_t threads = 1;  // that sum; more than one only where HPS was built with OpenMP
  Log log;
  Trace* trace = nullptr;  // where sums are noted
};

class ServedGroup {
 public:
  // The group of `spec` as this process serves it. References must outlive the group.
  ServedGroup(wire::GroupSpec spec, const ServiceOptions& options, Outbox& outbox, Counters& counters);
  ServedGroup(const ServedGroup&) = delete;
  ServedGroup& operator=(const ServedGroup&) = delete;

  const wire::GroupSpec& spec() const noexcept { return spec_; }
  std::uint32_t members() const noexcept { return static_cast<std::uint32_t>(spec_.members.size()); }
  std::optional<std::uint32_t> index_of(Rank member) const noexcept;

  // Credits: the least that cannot deadlock, what a full window can use, and the memory that one credit for every
  // member takes.
  std::uint32_t least_credits() const noexcept;
  std::uint32_t wanted_credits() const noexcept;
  std::uint64_t bytes_per_credit() const noexcept;
  // Contributions of each member that may wait. What comes beyond them is rejected.
  void set_credits(std::uint32_t credits) noexcept { credits_ = credits; }

  // A member that has not joined yet, or whose leave was revoked, may push; `reply_handle` names the group there.
  void join(std::uint32_t member, std::uint32_t reply_handle);
  void leave(std::uint32_t member);
  bool has_joined(std::uint32_t member) const noexcept { return members_[member].state == MemberState::joined; }
  bool has_left(std::uint32_t member) const noexcept { return members_[member].state == MemberState::left; }
  // Whether it has joined and not left, though its leave to push may have been revoked since.
  bool is_present(std::uint32_t member) const noexcept {
    return has_joined(member) || members_[member].state == MemberState::revoked;
  }
  std::uint32_t reply_handle(std::uint32_t member) const noexcept { return members_[member].reply_handle; }
  // Nobody is here and nothing is being sent. Whoever has joined has left, and with it all calls are over, for no call
  // is complete without everyone.
  bool drained() const noexcept { return store_.empty() && present_ == 0; }
  // Some members have left, and others are present.
  bool is_parting() const noexcept;
  // All members but this process have left.
  bool is_deserted() const noexcept;
  // Drops all contributions and takes the members' leave to push away; they have to join again.
  void revoke();
  // The number of the first call that is under way here; nothing where none is.
  std::optional<std::uint32_t> first_call() const noexcept { return calls_.first(); }

  // Whether a call is over here, or has failed.
  bool is_settled(std::uint32_t sequence) const noexcept {
    return calls_.is_over(sequence) || failure_of(sequence) != nullptr;
  }

  // A push from `member`, whose handle was right. Rejects and counts what does not fit.
  void on_push(std::uint32_t member, const wire::Header& header, ConstBytes payload);

  // Sums the chunks that are complete, on several threads.
  void sum_ready();

  // The local part of a call: contributes `call.input`, and is told of every chunk that is summed here. *chunks_left:
  // how many chunks of the call are still to be summed here. `call` must stay until all are told, it is aborted, or
  // withdraw().
  Status post(LocalCall& call, std::uint64_t* chunks_left);
  void withdraw(const LocalCall& call) noexcept;

  // Ends the call on every member.
  void abort(std::uint32_t sequence, const Status& why);
  // As abort(), for a call that its members know to have failed: no more than the local part is told, and whoever still
  // pushes.
  void cancel(std::uint32_t sequence, const Status& why);
  // A member or another owner is lost: all calls under way and to come fail.
  void fail(const Status& why);
  // Why the group cannot be used any more; ok while it can.
  const Status& failure() const noexcept { return failure_; }

  // Gives memory that is not in use back to the system.
  void trim() noexcept { store_.trim(); }
  bool sending() const noexcept { return store_.sending(); }
  bool holds_memory() const noexcept { return !store_.empty(); }

 private:
  enum class MemberState : std::uint8_t { absent, joined, revoked, left };
  struct Member {
    MemberState state = MemberState::absent;
    std::uint32_t reply_handle = 0;
  };
  // A chunk that is being summed.
  struct Sum {
    std::uint32_t sequence = 0;
    std::uint64_t chunk = 0;
    wire::Signature signature;
    bool renews = false;
    std::size_t bytes = 0;
    std::vector<const void*> inputs;  // by member
    ChunkBuffer* result = nullptr;
    TimeNs begin_ns = 0;  // of a traced one
    TimeNs end_ns = 0;
    std::uint8_t thread = 0;
  };

  struct Misfit {
    Rejection reason = Rejection::none;
    const char* why = "";
  };

  void reject(std::uint32_t member, const wire::Header& header, const Misfit& misfit);
  const Status* failure_of(std::uint32_t sequence) const noexcept;
  ServedCall* call_of(std::uint32_t sequence, const wire::Signature& signature, Rank who);
  bool disagrees(const ServedCall& call, const wire::Signature& signature, Rank who);
  bool owns(std::uint64_t chunk) const noexcept;
  std::uint64_t chunks_here(std::uint64_t chunks) const noexcept;
  Misfit misfit(const ServedCall& call, std::uint32_t member, std::uint64_t chunk, std::size_t bytes) noexcept;
  bool local_ready(const ServedCall& call) const noexcept { return !local_member_ || call.local != nullptr; }
  void take_complete_chunks(ServedCall& call);
  // All contributions to a chunk are there: sums it, or has sum_ready() do it. `last` is the one of `last_member` that
  // was not stored.
  void complete(ServedCall& call, std::uint64_t chunk, ChunkStore::Chunk& state, std::uint32_t last_member,
                ConstBytes last);
  bool begin_sum(const ServedCall& call, std::uint64_t chunk, const ChunkStore::Chunk& state, Sum* sum);
  void evaluate(Sum& sum) const noexcept;
  void end_sum(const Sum& sum);
  void send_result(const Sum& sum);
  void note(const Sum& sum) const noexcept;
  void end_call(std::uint32_t sequence);
  void give_up(ServedCall& call);
  void no_memory(std::uint32_t sequence) { abort(sequence, {Code::no_memory, "no memory for a chunk", options_.self}); }
  void tell_abort(std::uint32_t member, std::uint32_t sequence, const Status& why);

  wire::GroupSpec spec_;
  ServiceOptions options_;
  Outbox& outbox_;
  Counters& counters_;
  Tree tree_;
  std::vector<std::uint32_t> my_owners_;       // indices in the plan
  std::optional<std::uint32_t> local_member_;  // this process, where it is a worker of the group
  std::uint32_t remote_members_ = 0;
  std::vector<Member> members_;
  std::uint32_t present_ = 0;  // members that have joined and not left
  std::uint32_t credits_ = 0;
  ChunkStore store_;
  CallTable calls_;
  Sum sum_;                                                     // kept, for its memory
  std::vector<std::pair<std::uint32_t, std::uint64_t>> ready_;  // calls and chunks
  Status failure_;
};

}  // namespace hps

#endif
