// SPDX-License-Identifier: BSD-3-Clause
// CallTable: the calls of one group that are under way at an owner, by sequence number. Calls on one communicator
// follow each other, so a handful are under way at most; the numbers wrap around, and any number of calls may go by
// without this owner.
#ifndef HPS_SRC_SUMMATION_CALL_TABLE_H
#define HPS_SRC_SUMMATION_CALL_TABLE_H

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plan/plan.h"
#include "summation/local_call.h"
#include "summation/summed_chunks.h"
#include "util/failed_calls.h"
#include "wire/header.h"

namespace hps {

struct ServedCall {
  std::uint32_t sequence = 0;
  wire::Signature signature;
  Rank first = no_rank;  // whose signature it is
  Chunking chunking;
  std::uint64_t left = 0;  // chunks still to be summed here
  SummedChunks summed;
  bool renews = false;  // a member has said that the plan is looked at again afterwards
  LocalCall* local = nullptr;

  std::size_t chunk_bytes(std::uint64_t chunk) const noexcept {
    return chunking.elements(chunk, signature.count) * datatype_bytes(signature.datatype);
  }
};

class CallTable {
 public:
  // `members`: of the group. Honest ones have no more calls under way than one each, and one that has not ended here.
  explicit CallTable(std::uint32_t members) noexcept : most_calls_(members + 8) {}

  ServedCall* find(std::uint32_t sequence) noexcept;
  // A new call; nullptr where too many are under way. Valid until it ends.
  ServedCall* add(std::uint32_t sequence);
  // Over: it has ended, or a later one has. Calls are numbered from 1.
  bool is_over(std::uint32_t sequence) const noexcept;
  // Takes a call off and remembers why it failed. False where there is no place to remember it.
  bool fail(std::uint32_t sequence, const Status& why);
  // Why a call failed that is not over; nullptr where it did not.
  const Status* failure(std::uint32_t sequence) const noexcept { return failed_.find(sequence); }
  // Ends this call and all before it; gives back those that were still under way, without this one.
  std::vector<std::unique_ptr<ServedCall>> end_through(std::uint32_t sequence);
  // The first that is under way; nothing where none is.
  std::optional<std::uint32_t> first() const noexcept;
  // All that are under way.
  std::vector<std::uint32_t> sequences() const;

 private:
  std::size_t most_calls_;
  std::vector<std::unique_ptr<ServedCall>> calls_;
  FailedCalls failed_;
  std::uint32_t over_through_ = 0;
};

}  // namespace hps

#endif
