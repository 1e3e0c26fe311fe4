// SPDX-License-Identifier: BSD-3-Clause
// ChunkSequence: one smooth weighted sequence of owners, the same on every rank. Owner j gets weight[j] of every
// period() chunks, spread evenly, so that any run of chunks loads every owner in proportion to its share (no incast,
// and every prefix of the sequence is a fair split). Integer arithmetic only. Building it takes O(period log owners)
// steps and 4 bytes a chunk of the period.
#ifndef HPS_SRC_PLAN_SEQUENCE_H
#define HPS_SRC_PLAN_SEQUENCE_H

#include <cstdint>
#include <vector>

#include "util/status.h"

namespace hps {

class ChunkSequence {
 public:
  static constexpr std::uint32_t max_period = 1u << 18;

  ChunkSequence() = default;
  // At least one weight is positive and their sum is at most max_period; else invalid_argument.
  static Status create(const std::vector<std::uint32_t>& weights, ChunkSequence* sequence);

  std::uint32_t period() const noexcept { return static_cast<std::uint32_t>(owner_.size()); }
  std::uint32_t owner(std::uint64_t chunk) const noexcept {
    return owner_[static_cast<std::size_t>(chunk % owner_.size())];
  }
  // The most occurrences of `owner` in any `span` consecutive chunks (cyclic).
  std::uint32_t most_in_span(std::uint32_t owner, std::uint32_t span) const noexcept;
  // How many of the first `chunks` chunks `owner` has.
  std::uint64_t count_in_prefix(std::uint32_t owner, std::uint64_t chunks) const noexcept;

 private:
  std::vector<std::uint32_t> owner_;
};

}  // namespace hps

#endif
