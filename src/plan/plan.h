// SPDX-License-Identifier: BSD-3-Clause
// Plan: who sums what, known to all members of a group without asking. One rank computes it, the others receive it;
// from then on it is immutable and everything below follows from it alone, in integer arithmetic, the same on every
// rank.
#ifndef HPS_SRC_PLAN_PLAN_H
#define HPS_SRC_PLAN_PLAN_H

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/sequence.h"
#include "util/status.h"
#include "util/types.h"

namespace hps {

// What make_plan is told of one node.
struct PlanNode {
  bool cpu_only = false;
  double rate = 0;           // bytes a second of its NIC, the worse direction; 0 = unknown
  std::vector<Rank> owners;  // the ranks of the node that may own chunks, at least one
};

struct PlanOptions {
  std::uint32_t chunk_bytes = 0;  // 0 = by the rate
  std::uint32_t window = 0;       // chunks in flight a worker; 0 = by n and k
  std::uint32_t max_chunk_bytes = 61440;
  double latency_s = 0;  // one message, one way; 0 = a default
  Algorithm algorithm = Algorithm::automatic;
};

struct PlanOwner {
  Rank rank = no_rank;
  std::uint32_t node = 0;    // index in Plan::nodes
  std::uint32_t weight = 0;  // chunks a period of the sequence
  bool operator==(const PlanOwner&) const = default;
};

struct PlanNodeShare {
  bool cpu_only = false;
  double rate = 0;
  double share = 0;  // of the vector, 0 .. 1
  bool operator==(const PlanNodeShare&) const = default;
};

// How one message of `count` elements is cut.
struct Chunking {
  std::uint64_t elements_per_chunk = 0;  // but for the last, which may have fewer
  std::uint64_t chunks = 0;

  std::uint64_t first_element(std::uint64_t chunk) const noexcept { return chunk * elements_per_chunk; }
  std::uint64_t elements(std::uint64_t chunk, std::uint64_t count) const noexcept {
    return std::min(elements_per_chunk, count - first_element(chunk));
  }
};

class Plan {
 public:
  std::uint16_t number = 1;
  std::uint32_t n = 0;                      // worker nodes
  std::uint32_t k = 0;                      // CPU-only nodes
  std::vector<PlanNodeShare> nodes;         // worker nodes first, in the order given, then CPU-only nodes
  std::vector<PlanOwner> owners;            // by node; owners of weight 0 are left out
  std::uint32_t chunk_bytes = 0;            // the largest chunk
  std::uint32_t min_chunk_bytes = 0;        // a shorter message is cut into chunks no smaller than this
  std::uint32_t window = 0;                 // W: chunks pushed and not yet answered, a worker
  std::uint32_t rotation = 0;               // G <= W: workers start at different places in groups of G chunks
  Algorithm forced = Algorithm::automatic;  // the algorithm for all messages; automatic = by their size
  std::uint32_t small_bytes = 0;            // then messages of at most so many bytes go by recursive doubling
  double latency_s = 0;
  bool operator==(const Plan& other) const;

  // Builds what is derived from the fields above (the chunk sequence). make_plan and the decoder call it. Error:
  // invalid_argument where the fields contradict each other (no owners, rotation > window, chunk_bytes below 64, an
  // owner of a node that does not exist, ...).
  Status finish();

  // The owner (index in owners) of a chunk; chunk sequences do not depend on the message.
  std::uint32_t owner_of(std::uint64_t chunk) const noexcept { return sequence_.owner(chunk); }
  const ChunkSequence& sequence() const noexcept { return sequence_; }

  // How a message of `count` elements of `element_bytes` bytes is cut. Chunks are whole elements and, but for the last,
  // multiples of 64 bytes where that is possible; element_bytes <= 64. Smaller messages get smaller chunks, down to
  // min_chunk_bytes, so that all owners take part.
  Chunking chunking(std::uint64_t count, std::size_t element_bytes) const noexcept;

  // The algorithm for a message of `bytes` bytes.
  Algorithm algorithm(std::uint64_t bytes) const noexcept {
    if (forced != Algorithm::automatic) return forced;
    return bytes <= small_bytes ? Algorithm::recursive_doubling : Algorithm::direct;
  }

  // The chunk that worker `starter` of `starters` pushes at step `step` (0 .. chunks-1) of a message of `chunks`
  // chunks: a permutation of 0 .. chunks-1 that goes group by group (rotation chunks each), and within a group starts
  // at a place of the worker's own.
  std::uint64_t chunk_at(std::uint64_t step, std::uint64_t chunks, std::uint32_t starter,
                         std::uint32_t starters) const noexcept;

  // The most chunks of one owner within any `span` consecutive chunks of the sequence: how many pushes a member may
  // have waiting there.
  std::uint32_t most_in_span(std::uint32_t owner, std::uint32_t span) const noexcept {
    return sequence_.most_in_span(owner, span);
  }

  // The least pushes of each member that an owner must be able to keep; and the memory, at most, that the group takes
  // so at any owner, where it has so many members.
  std::uint32_t least_credits(std::uint32_t owner) const noexcept {
    return std::max(most_in_span(owner, rotation), 1u);
  }
  std::uint64_t least_memory_bytes(std::uint32_t members) const noexcept;

  // The bound in seconds for `bytes` bytes; 0 where n = 1, for there is no network; else negative where a rate is
  // unknown.
  double bound_seconds(double bytes) const;
  // What a call is predicted to take: the busiest node's traffic with the chunks that the message has, plus latencies;
  // or recursive doubling where that is chosen. Negative where a rate is unknown, and where n = 1: what counts then is
  // the speed inside the node, of which a plan knows nothing.
  double predicted_seconds(double bytes) const;

  // "n=8 workers, k=4 CPU-only: 15.9 % on each CPU-only node, 4.5 % on each worker node; 1.375x over all-reduce"
  std::string describe() const;

 private:
  ChunkSequence sequence_;
};

// Computes the plan of a group: shares (by bandwidth where every node's rate is known, else equal), weights, chunk
// size, window, thresholds. At least one worker node. A node's weight is split evenly over its owners. chunk_bytes
// above max_chunk_bytes is an error; the default is cut to it. Errors: invalid_argument, naming what is wrong.
Status make_plan(const std::vector<PlanNode>& nodes, const PlanOptions& options, Plan* plan);

}  // namespace hps

#endif
