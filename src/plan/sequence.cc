// SPDX-License-Identifier: BSD-3-Clause
#include "plan/sequence.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <string>
#include <utility>

namespace hps {
namespace {

// The next occurrence of one item in a schedule that is being built.
struct Occurrence {
  std::uint32_t item = 0;
  std::uint64_t weight = 0;
  std::uint64_t index = 0;  // 0 .. weight-1

  // The first slot it may take, when `index` occurrences are no longer too many, in a period of that many slots.
  std::uint64_t release(std::uint64_t period) const { return index * period / weight; }
};

// Orders a priority queue by deadline, earliest first: occurrence m of an item of weight w must stand before (m+1)/w of
// the period. Fractions are compared by cross multiplication, so that there is no rounding; ties go by item.
struct LaterDeadline {
  bool operator()(const Occurrence& a, const Occurrence& b) const {
    const std::uint64_t left = (a.index + 1) * b.weight;
    const std::uint64_t right = (b.index + 1) * a.weight;
    return left != right ? left > right : a.item > b.item;
  }
};

// Lays out every item weight times in a period as long as the sum of the weights. Occurrence m of an item of weight w
// may take slots floor(m * period / w) up to, not including, ceil((m+1) * period / w); each slot goes to the earliest
// deadline among those that may take it. That always fits (a fractional schedule exists: every item its share of every
// slot), so in every prefix an item's count differs from its fair part by less than 1.
std::vector<std::uint32_t> level_schedule(const std::vector<std::uint32_t>& weights, std::uint64_t period) {
  std::priority_queue<Occurrence, std::vector<Occurrence>, LaterDeadline> ready;
  using Waiting = std::pair<std::uint64_t, std::uint32_t>;  // release, item
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
  std::vector<Occurrence> next(weights.size());
  for (std::uint32_t item = 0; item < weights.size(); ++item) {
    next[item] = {item, weights[item], 0};
    if (weights[item] > 0) ready.push(next[item]);
  }
  std::vector<std::uint32_t> schedule;
  schedule.reserve(static_cast<std::size_t>(period));
  for (std::uint64_t slot = 0; slot < period; ++slot) {
    for (; !waiting.empty() && waiting.top().first <= slot; waiting.pop()) ready.push(next[waiting.top().second]);
    const std::uint32_t item = ready.top().item;
    ready.pop();
    schedule.push_back(item);
    if (++next[item].index < weights[item]) waiting.emplace(next[item].release(period), item);
  }
  return schedule;
}

// The sum of the weights, which is the length of the schedule.
Status period_of(const std::vector<std::uint32_t>& weights, std::uint64_t* period) {
  std::uint64_t sum = 0;
  for (const std::uint32_t weight : weights) sum += weight;
  if (sum == 0) return Status(Code::invalid_argument, "no owner has a weight, so no chunk would have an owner");
  if (sum > ChunkSequence::max_period) {
    return Status(Code::invalid_argument, "the owners' weights sum to " + std::to_string(sum) + "; at most " +
                                              std::to_string(ChunkSequence::max_period) + " is possible");
  }
  *period = sum;
  return Status();
}

Status check_nodes(const std::vector<std::uint32_t>& weights, const std::vector<std::uint32_t>& node_of) {
  if (node_of.size() != weights.size()) {
    return Status(Code::invalid_argument, std::to_string(weights.size()) + " owners have weights, but " +
                                              std::to_string(node_of.size()) + " have nodes");
  }
  const std::uint32_t last = *std::max_element(node_of.begin(), node_of.end());
  if (last < ChunkSequence::max_period) return Status();
  return Status(Code::invalid_argument, "an owner's node is " + std::to_string(last) + "; at most " +
                                            std::to_string(ChunkSequence::max_period - 1) + " is possible");
}

}  // namespace

Status ChunkSequence::create(const std::vector<std::uint32_t>& weights, ChunkSequence* sequence) {
  std::uint64_t period = 0;
  HPS_RETURN_IF_ERROR(period_of(weights, &period));
  sequence->owner_ = level_schedule(weights, period);
  return Status();
}

Status ChunkSequence::create(const std::vector<std::uint32_t>& weights, const std::vector<std::uint32_t>& node_of,
                             ChunkSequence* sequence) {
  std::uint64_t period = 0;
  HPS_RETURN_IF_ERROR(period_of(weights, &period));
  HPS_RETURN_IF_ERROR(check_nodes(weights, node_of));
  // Nodes are laid out first, by what their owners have together; then each node's chunks among its owners.
  std::vector<std::uint32_t> node_weights(1 + *std::max_element(node_of.begin(), node_of.end()), 0);
  std::vector<std::vector<std::uint32_t>> owners_on(node_weights.size());
  for (std::uint32_t owner = 0; owner < weights.size(); ++owner) {
    node_weights[node_of[owner]] += weights[owner];
    owners_on[node_of[owner]].push_back(owner);
  }
  std::vector<std::uint32_t> schedule = level_schedule(node_weights, period);
  std::vector<std::vector<std::uint32_t>> chunks_of(node_weights.size());
  for (std::uint32_t chunk = 0; chunk < schedule.size(); ++chunk) chunks_of[schedule[chunk]].push_back(chunk);
  for (std::size_t node = 0; node < node_weights.size(); ++node) {
    std::vector<std::uint32_t> within;
    for (const std::uint32_t owner : owners_on[node]) within.push_back(weights[owner]);
    const std::vector<std::uint32_t> turns = level_schedule(within, node_weights[node]);
    for (std::size_t turn = 0; turn < turns.size(); ++turn) {
      schedule[chunks_of[node][turn]] = owners_on[node][turns[turn]];
    }
  }
  sequence->owner_ = std::move(schedule);
  return Status();
}

std::uint32_t ChunkSequence::most_in_span(std::uint32_t owner, std::uint32_t span) const noexcept {
  // Whole periods hold the owner's weight wherever they start; only the rest of the span depends on its place.
  const std::size_t rest = span % owner_.size();
  const std::uint32_t whole = span / period();
  std::uint32_t in_rest = count(owner, rest);
  std::uint32_t most = 0;
  for (std::size_t start = 0; start < owner_.size(); ++start) {  // from [start, start + rest) to the next
    in_rest += owner_[(start + rest) % owner_.size()] == owner;
    in_rest -= owner_[start] == owner;
    most = std::max(most, in_rest);
  }
  return whole > 0 ? whole * count(owner, owner_.size()) + most : most;
}

std::uint64_t ChunkSequence::count_in_prefix(std::uint32_t owner, std::uint64_t chunks) const noexcept {
  const std::uint64_t whole = chunks / owner_.size();
  const std::uint64_t in_rest = count(owner, static_cast<std::size_t>(chunks % owner_.size()));
  return whole > 0 ? whole * count(owner, owner_.size()) + in_rest : in_rest;
}

std::uint32_t ChunkSequence::count(std::uint32_t owner, std::size_t chunks) const noexcept {
  return static_cast<std::uint32_t>(
      std::count(owner_.begin(), owner_.begin() + static_cast<std::ptrdiff_t>(chunks), owner));
}

}  // namespace hps
