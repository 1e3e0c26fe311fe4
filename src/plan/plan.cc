// SPDX-License-Identifier: BSD-3-Clause
// What a plan says of a chunk, and the checks that a plan which came over the network must pass.
#include "plan/plan.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "plan/weights.h"

namespace hps {
namespace {

// Limits that no sensible plan comes near; they keep what a rank allocates for a plan within reason.
constexpr std::uint32_t max_plan_chunk_bytes = 1u << 26;
constexpr std::uint32_t max_plan_window = 1u << 16;

Status invalid(std::string text) { return Status(Code::invalid_argument, "plan: " + std::move(text)); }

Status check_node_counts(const Plan& plan) {
  if (plan.n == 0) return invalid("there is no worker node");
  if (plan.nodes.size() > max_plan_nodes) {
    return invalid(std::to_string(plan.nodes.size()) + " nodes; at most " + std::to_string(max_plan_nodes) +
                   " are possible");
  }
  if (plan.nodes.size() == std::uint64_t{plan.n} + plan.k) return Status();
  return invalid("n=" + std::to_string(plan.n) + " and k=" + std::to_string(plan.k) + ", but there are " +
                 std::to_string(plan.nodes.size()) + " nodes");
}

Status check_nodes(const Plan& plan) {
  HPS_RETURN_IF_ERROR(check_node_counts(plan));
  double whole = 0;
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    const PlanNodeShare& node = plan.nodes[i];
    const std::string name = "node " + std::to_string(i);
    if (node.cpu_only != (i >= plan.n)) return invalid(name + " is out of order: workers first, then CPU-only nodes");
    if (!std::isfinite(node.rate) || node.rate < 0) return invalid(name + " has rate " + std::to_string(node.rate));
    if (!(node.share >= 0 && node.share <= 1)) return invalid(name + " has share " + std::to_string(node.share));
    whole += node.share;
  }
  if (std::abs(whole - 1) <= 1e-6) return Status();
  return invalid("the shares sum to " + std::to_string(whole) + " instead of 1");
}

Status check_owners(const Plan& plan) {
  std::set<Rank> ranks;
  for (const PlanOwner& owner : plan.owners) {
    const std::string name = "the owner of rank " + std::to_string(owner.rank);
    if (owner.rank < 0) return invalid(name + " is no rank");
    if (owner.node >= plan.nodes.size()) {
      return invalid(name + " is on node " + std::to_string(owner.node) + " of " + std::to_string(plan.nodes.size()));
    }
    if (owner.weight == 0) return invalid(name + " has weight 0");
    if (!ranks.insert(owner.rank).second) return invalid(name + " is named twice");
  }
  return Status();  // that there is one, and the sum of weights, the chunk sequence checks
}

Status check_range(const char* name, std::uint32_t value, std::uint32_t low, std::uint32_t high) {
  if (value >= low && value <= high) return Status();
  return invalid(std::string(name) + " is " + std::to_string(value) + "; it must be " + std::to_string(low) + " to " +
                 std::to_string(high));
}

Status check_sizes(const Plan& plan) {
  HPS_RETURN_IF_ERROR(check_range("number", plan.number, 1, UINT16_MAX));
  HPS_RETURN_IF_ERROR(check_range("chunk_bytes", plan.chunk_bytes, 64, max_plan_chunk_bytes));
  HPS_RETURN_IF_ERROR(check_range("min_chunk_bytes", plan.min_chunk_bytes, 1, plan.chunk_bytes));
  HPS_RETURN_IF_ERROR(check_range("window", plan.window, 1, max_plan_window));
  // A chunk completes only when every worker has come to it; with a group longer than the window two workers may each
  // wait for chunks that the other may not push yet.
  HPS_RETURN_IF_ERROR(check_range("rotation", plan.rotation, 1, plan.window));
  HPS_RETURN_IF_ERROR(check_range("algorithm", static_cast<std::uint32_t>(plan.forced), 0, std::size(all_algorithms)));
  if (std::isfinite(plan.latency_s) && plan.latency_s >= 0) return Status();
  return invalid("latency_s is " + std::to_string(plan.latency_s));
}

}  // namespace

std::uint64_t Plan::least_memory_bytes(std::uint32_t members) const noexcept {
  std::uint64_t most = 0;
  for (std::uint32_t owner = 0; owner < owners.size(); ++owner)
    most = std::max(most, std::uint64_t{least_credits(owner)} * (std::uint64_t{members} + 1) * chunk_bytes);
  return most;
}

bool Plan::operator==(const Plan& other) const {
  return number == other.number && n == other.n && k == other.k && nodes == other.nodes && owners == other.owners &&
         chunk_bytes == other.chunk_bytes && min_chunk_bytes == other.min_chunk_bytes && window == other.window &&
         rotation == other.rotation && forced == other.forced && small_bytes == other.small_bytes &&
         latency_s == other.latency_s;
}

Status Plan::finish() {
  HPS_RETURN_IF_ERROR(check_nodes(*this));
  HPS_RETURN_IF_ERROR(check_owners(*this));
  HPS_RETURN_IF_ERROR(check_sizes(*this));
  std::vector<std::uint32_t> weights;
  std::vector<std::uint32_t> node_of;
  for (const PlanOwner& owner : owners) {
    weights.push_back(owner.weight);
    node_of.push_back(owner.node);
  }
  return ChunkSequence::create(weights, node_of, &sequence_);
}

std::uint64_t Plan::chunk_at(std::uint64_t step, std::uint64_t chunks, std::uint32_t starter,
                             std::uint32_t starters) const noexcept {
  const std::uint64_t group = step - step % rotation;
  const std::uint64_t width = std::min<std::uint64_t>(rotation, chunks - group);
  const std::uint64_t start = starter * width / starters;
  return group + (start + step - group) % width;
}

}  // namespace hps
