// SPDX-License-Identifier: BSD-3-Clause
// ChunkSequence: one smooth weighted sequence of owners, the same on every rank. Owner j gets weight[j] of every
// period() chunks, spread evenly, so that any run of chunks loads every owner in proportion to its share (no incast,
// and every prefix of the sequence is a fair split): in every prefix an owner's count differs from its fair part by
// less than 1. Integer arithmetic only. Method: earliest deadline first over the windows that the bound leaves (Steiner
// and Yeomans, "Level schedules for mixed-model, just-in-time processes", Management Science 1993; the bound is
// Tijdeman's, 1980). Placing every owner's chunks at even distances instead, each by itself, makes owners of equal
// weight collide: all workers in one run, far from their share. Building takes O(period log owners) steps and keeps 4
// bytes a chunk of the period.
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
  // The same where owners share nodes, owner j on node node_of[j] < max_period: what is laid out evenly is each node's
  // chunks, and then, among those, each of its owners'; for it is nodes that have a network link. A node's count in a
  // prefix is within 1 of its fair part, an owner's within 2.
  static Status create(const std::vector<std::uint32_t>& weights, const std::vector<std::uint32_t>& node_of,
                       ChunkSequence* sequence);

  std::uint32_t period() const noexcept { return static_cast<std::uint32_t>(owner_.size()); }
  std::uint32_t owner(std::uint64_t chunk) const noexcept {
    return owner_[static_cast<std::size_t>(chunk % owner_.size())];
  }
  // The most occurrences of `owner` in any `span` consecutive chunks (cyclic). Takes period() steps.
  std::uint32_t most_in_span(std::uint32_t owner, std::uint32_t span) const noexcept;
  // How many of the first `chunks` chunks `owner` has. Takes at most period() steps.
  std::uint64_t count_in_prefix(std::uint32_t owner, std::uint64_t chunks) const noexcept;

 private:
  std::uint32_t count(std::uint32_t owner, std::size_t chunks) const noexcept;  // chunks <= period

  std::vector<std::uint32_t> owner_;
};

}  // namespace hps

#endif
