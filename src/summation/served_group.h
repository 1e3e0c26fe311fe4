// SPDX-License-Identifier: BSD-3-Clause
// ServedGroup: what an owner keeps for one group: who has joined, the calls under way, and the contributions that wait
// for the others.
//
// A chunk is summed when all contributions to it are there, in one pass over them and in the order of the canonical
// tree. With one thread that is at once: the last to arrive is read where the transport left it, the others wait in
// slots. With several threads complete chunks wait for sum_ready(), which sums them side by side. Results go out from
// buffers of the service. What a member may have waiting is bounded by its credits.
#ifndef HPS_SRC_SUMMATION_SERVED_GROUP_H
#define HPS_SRC_SUMMATION_SERVED_GROUP_H

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "summation/chunk_memory.h"
#include "summation/local_call.h"
#include "summation/tree.h"
#include "util/log.h"
#include "wire/group_spec.h"
#include "wire/outbox.h"

namespace hps {

struct ServiceOptions {
  Rank self = no_rank;
  std::uint64_t memory_bytes = 0;
  std::uint32_t threads = 1;  // that sum; more than one only where HPS was built with OpenMP
  Log log;
};

struct ServiceCounters {
  std::uint64_t pushes = 0;      // accepted
  std::uint64_t chunks = 0;      // summed
  std::uint64_t rejected = 0;    // messages that did not fit: unknown handle, wrong length, duplicate, stale, ...
  std::uint64_t mismatches = 0;  // calls aborted because ranks disagreed
};

class ServedGroup {
 public:
  // The group of `spec` as this process serves it. References must outlive the group.
  ServedGroup(wire::GroupSpec spec, const ServiceOptions& options, wire::Outbox& outbox, ServiceCounters& counters);
  ServedGroup(const ServedGroup&) = delete;
  ServedGroup& operator=(const ServedGroup&) = delete;

  const wire::GroupSpec& spec() const noexcept { return spec_; }
  std::uint32_t members() const noexcept { return static_cast<std::uint32_t>(spec_.members.size()); }

  // Credits: the least that cannot deadlock, what a full window can use, and the memory that one credit for every
  // member takes.
  std::uint32_t least_credits() const noexcept;
  std::uint32_t wanted_credits() const noexcept;
  std::uint64_t bytes_per_credit() const noexcept;

  // A member that joined may push; `reply_handle` names the group there. False where it has joined already.
  bool join(std::uint32_t member, std::uint32_t reply_handle);
  void leave(std::uint32_t member);
  bool has_joined(std::uint32_t member) const noexcept { return members_[member].state == MemberState::joined; }
  std::uint32_t reply_handle(std::uint32_t member) const noexcept { return members_[member].reply_handle; }
  // Nobody will push any more and nothing is being sent: whoever has joined has left, and with it all calls are over,
  // for no call is complete without everyone; or nobody has joined, and this process knows its last call to be over.
  bool drained(bool last_call_is_over) const noexcept;

  // A push from `member`, whose handle was right. Rejects and counts what does not fit.
  void on_push(std::uint32_t member, const wire::Header& header, ConstBytes payload) noexcept;

  // Sums the chunks that are complete, on several threads.
  void sum_ready() noexcept;

  // The local part of a call: contributes `call.input`, and is told of every chunk that is summed here. *chunks_left:
  // how many chunks of the call are still to be summed here. `call` must stay until all are told, it is aborted, or
  // withdraw().
  Status post(LocalCall& call, std::uint64_t* chunks_left);
  void withdraw(const LocalCall& call) noexcept;

  // Ends the call on every member.
  void abort(std::uint32_t sequence, const Status& why) noexcept;
  // As abort(), for a call that its members know to have failed: no more than the local part is told, and whoever still
  // pushes.
  void cancel(std::uint32_t sequence, const Status& why) noexcept;
  // A member or another owner is lost: all calls under way and to come fail.
  void fail(const Status& why) noexcept;

  bool sending() const noexcept { return pool_.in_use() != waiting_buffers_; }

 private:
  enum class MemberState : std::uint8_t { absent, joined, left };
  struct Member {
    MemberState state = MemberState::absent;
    std::uint32_t reply_handle = 0;
  };
  struct Call {
    std::uint32_t sequence = 0;
    wire::Signature signature;
    Rank first = no_rank;  // whose signature it is
    Chunking chunking;
    std::uint64_t left = 0;  // chunks still to be summed here
    LocalCall* local = nullptr;
    Status failure;  // why it was aborted; ok while it was not

    bool aborted() const noexcept { return !failure.ok(); }
  };
  struct Chunk {
    std::vector<ChunkBuffer*> inputs;  // by member
    std::uint32_t arrived = 0;
  };
  // A chunk that is being summed.
  struct Sum {
    std::uint32_t sequence = 0;
    std::uint64_t chunk = 0;
    wire::Signature signature;
    std::size_t bytes = 0;
    std::vector<const void*> inputs;  // by member
    ChunkBuffer* result = nullptr;
  };
  using ChunkMap = std::unordered_map<std::uint64_t, std::unique_ptr<Chunk>>;

  static std::uint64_t key(std::uint32_t sequence, std::uint64_t chunk) noexcept {
    return static_cast<std::uint64_t>(sequence) << 32 | chunk;
  }
  void reject(std::uint32_t member, const wire::Header& header, const char* why) noexcept;
  Call* find_call(std::uint32_t sequence) noexcept;
  Call* call_of(std::uint32_t sequence, const wire::Signature& signature, Rank who);
  static constexpr std::uint32_t calls_kept_apart = 1u << 20;
  bool is_over(std::uint32_t sequence) const noexcept;
  bool owns(std::uint64_t chunk) const noexcept;
  std::uint64_t chunks_here(std::uint64_t chunks) const noexcept;
  std::size_t chunk_bytes(const Call& call, std::uint64_t chunk) const noexcept;
  const char* misfit(const Call& call, std::uint64_t chunk, std::size_t bytes) const noexcept;
  Chunk& chunk_of(const Call& call, std::uint64_t chunk);
  bool local_ready(const Call& call) const noexcept { return !local_member_ || call.local != nullptr; }
  bool store(Chunk& chunk, std::uint32_t member, ConstBytes payload) noexcept;
  void take_complete_chunks(Call& call) noexcept;
  // All contributions to a chunk are there: sums it, or has sum_ready() do it. `last` is the one of `last_member` that
  // was not stored.
  void complete(Call& call, std::uint64_t chunk, Chunk& state, std::uint32_t last_member, ConstBytes last) noexcept;
  bool begin_sum(const Call& call, std::uint64_t chunk, const Chunk& state, Sum* sum) noexcept;
  void evaluate(const Sum& sum) const noexcept;
  void end_sum(const Sum& sum) noexcept;
  void send_result(const Sum& sum) noexcept;
  void discard(Chunk& state) noexcept;
  void discard_chunks(std::uint32_t sequence) noexcept;
  void end_call(std::uint32_t sequence) noexcept;
  void give_up(Call& call) noexcept;
  void tell_abort(std::uint32_t sequence, const Status& why) noexcept;
  void tell_abort(std::uint32_t member, std::uint32_t sequence, const Status& why) noexcept;

  wire::GroupSpec spec_;
  ServiceOptions options_;
  wire::Outbox& outbox_;
  ServiceCounters& counters_;
  Tree tree_;
  std::vector<std::uint32_t> my_owners_;       // indices in the plan
  std::optional<std::uint32_t> local_member_;  // this process, where it is a worker of the group
  std::uint32_t remote_members_ = 0;
  std::vector<Member> members_;
  std::uint32_t joined_ = 0;  // members in that state
  std::uint32_t left_ = 0;
  BufferPool pool_;
  std::size_t waiting_buffers_ = 0;  // buffers in use that hold contributions, not results
  std::vector<std::unique_ptr<Call>> calls_;
  std::uint32_t over_through_ = 0;  // calls up to this sequence number are over; they are numbered from 1
  ChunkMap chunks_;
  Sum sum_;                                                     // kept, for its memory
  std::vector<std::pair<std::uint32_t, std::uint64_t>> ready_;  // calls and chunks
  Status failure_;
};

}  // namespace hps

#endif
