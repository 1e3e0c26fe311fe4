// SPDX-License-Identifier: BSD-3-Clause
// Direct placement: every worker sends each chunk once, straight to its owner, and the owner sends the sum straight
// back.
//
// Chunks are pushed in the order of one smooth weighted sequence, so that every flow advances in proportion to its
// owner's share; each worker starts at another place in a group of chunks, so that an owner's port does not get n
// pushes at once; and at most `window` chunks are pushed and not yet answered, so that queues stay short. All three
// were measured to be needed: from 50 % of the bound to 98 %. The rotation group is never larger than the window: a
// chunk is complete only when every worker has come to it.
//
// Cost: one push and one result a chunk. A worker node moves M + (n-2) * (its share) bytes each way, a CPU-only node n
// * (its share). Source: Jiang et al., "A Unified Architecture for Accelerating Distributed DNN Training in
// Heterogeneous GPU/CPU Clusters", OSDI 2020.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "coll/allreduce_hetero/allreduce_hetero.h"

namespace hps::allreduce_hetero {
namespace {

class Direct final : public Operation, private LocalCall {
 public:
  Direct(Membership& membership, const Arguments& arguments)
      : Operation(arguments.signature()),
        membership_(membership),
        arguments_(arguments),
        element_bytes_(datatype_bytes(arguments.datatype)),
        chunking_(membership.plan().chunking(arguments.count, element_bytes_)),
        missing_(chunking_.chunks),
        received_(chunking_.chunks) {}

  void start() override {
    join_owners();
    if (Status posted = post_own_chunks(); !posted.ok()) return fail(posted);
    push_more();
  }

  bool reaches_all() const noexcept override { return true; }
  void on_progress() override { push_more(); }

  bool on_result(const wire::Header& header, ConstBytes payload) override {
    if (!accept(header.chunk, payload)) return false;
    // One whose push was revoked is not in flight.
    if (std::erase(again_, header.chunk) == 0) {
      --in_flight_;
      membership_.answered(*this, membership_.plan().owner_of(header.chunk));
    }
    push_more();
    return true;
  }

  // All in the order of before: the least credits suffice only where members push alike.
  void on_revoked(std::uint32_t owner) override {
    const Plan& plan = membership_.plan();
    const std::vector<std::uint64_t> waiting = std::exchange(again_, {});
    for (std::uint64_t step = 0; step < next_step_; ++step) {
      const std::uint64_t chunk = chunk_at(step);
      const bool is_waiting = std::find(waiting.begin(), waiting.end(), chunk) != waiting.end();
      if (!is_waiting && (plan.owner_of(chunk) != owner || received_[chunk])) continue;
      again_.push_back(chunk);
      if (!is_waiting) --in_flight_;
    }
    push_more();
  }

  void fail(const Status& why) override {
    membership_.withdraw(*this);
    Operation::fail(why);
  }

 private:
  // The service of this process has summed a chunk that this process owns.
  void on_chunk_summed(std::uint64_t chunk, ConstBytes result) override {
    if (LocalCall::renews) membership_.hear_of_renewal(Operation::sequence());
    accept(chunk, result);
  }
  void on_aborted(const Status& why) override { Operation::fail(why); }

  // All owners that this message needs, at once: one round trip instead of one each.
  void join_owners() {
    const std::uint64_t chunks = std::min<std::uint64_t>(chunking_.chunks, membership_.plan().sequence().period());
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) membership_.join(membership_.plan().owner_of(chunk));
  }

  Status post_own_chunks() {
    LocalCall::sequence = Operation::sequence();
    LocalCall::signature = Operation::signature();
    LocalCall::input = arguments_.send;
    LocalCall::renews = membership_.asks_for_renewal(Operation::sequence());
    std::uint64_t chunks_left = 0;
    return membership_.post(*this, &chunks_left);
  }

  std::uint64_t chunk_bytes(std::uint64_t chunk) const noexcept {
    return chunking_.elements(chunk, arguments_.count) * element_bytes_;
  }
  std::uint64_t offset(std::uint64_t chunk) const noexcept { return chunking_.first_element(chunk) * element_bytes_; }

  std::uint64_t chunk_at(std::uint64_t step) const noexcept {
    return membership_.plan().chunk_at(step, chunking_.chunks, *membership_.self(), membership_.members());
  }

  // Pushes along the sequence as far as the window, the owners' answers and their credits allow. The order is kept: a
  // push that must wait holds up those behind it. What was revoked comes first.
  void push_more() {
    while (!ended() && in_flight_ < membership_.plan().window) {
      const bool is_again = !again_.empty();
      if (!is_again && next_step_ == chunking_.chunks) return;
      const std::uint64_t chunk = is_again ? again_.front() : chunk_at(next_step_);
      const std::uint32_t owner = membership_.plan().owner_of(chunk);
      if (!membership_.is_local(owner)) {
        if (!membership_.may_push(owner)) return membership_.join(owner);
        push(owner, chunk);
      }
      if (is_again)
        again_.erase(again_.begin());
      else
        ++next_step_;
    }
  }

  void push(std::uint32_t owner, std::uint64_t chunk) {
    count_send();
    ++in_flight_;
    const ConstBytes payload(arguments_.send + offset(chunk), chunk_bytes(chunk));
    if (Status sent = membership_.push(*this, owner, chunk, payload); !sent.ok()) {
      uncount_send();
      fail(sent);
    }
  }

  // Writes a result to where it belongs; only now is the chunk's input not needed any more.
  bool accept(std::uint64_t chunk, ConstBytes result) {
    if (ended() || chunk >= chunking_.chunks || received_[chunk] || result.size() != chunk_bytes(chunk)) return false;
    std::memcpy(arguments_.receive + offset(chunk), result.data(), result.size());
    received_[chunk] = true;
    if (--missing_ == 0) end({});
    return true;
  }

  Membership& membership_;
  Arguments arguments_;
  std::size_t element_bytes_;
  Chunking chunking_;
  std::uint64_t missing_;             // results
  std::vector<bool> received_;        // by chunk
  std::uint64_t next_step_ = 0;       // along this worker's order of chunks
  std::uint32_t in_flight_ = 0;       // chunks pushed and not answered
  std::vector<std::uint64_t> again_;  // chunks that were pushed, and must be once more
};

}  // namespace

std::unique_ptr<Operation> make_direct(Membership& membership, const Arguments& arguments) {
  return std::make_unique<Direct>(membership, arguments);
}

}  // namespace hps::allreduce_hetero
