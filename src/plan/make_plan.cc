// SPDX-License-Identifier: BSD-3-Clause
// make_plan: from what is known of the nodes to a plan. One rank runs it; floating point appears only here, what all
// ranks then compute from the plan is integers.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "plan/estimate.h"
#include "plan/plan.h"
#include "plan/rates.h"
#include "plan/shares.h"
#include "plan/weights.h"

namespace hps {
namespace {

// Chunk size and window were measured with UCX active messages over TCP, 8 workers, as percent of the bound. At 100
// Mbit/s 16 KB chunks reach 98 % with a window of 12 to 24; more in flight overflows the queue at an owner's port (16
// KB x 64: 56 %; 32 KB at any window: 80 to 96 %). A port's queue holds some milliseconds of its rate, so chunks shrink
// on slower links: at 20 Mbit/s 16 KB x 16 reach 54 % and 8 KB x 16 98 %. At 5 Gbit/s the cost of a message decides,
// and 16 KB reach 92 to 97 % where 60 KB reach 99 %, the largest round size that UCX sends over TCP in one piece.
struct ChunkAtRate {
  double rate = 0;  // bytes a second
  std::uint32_t bytes = 0;
};
constexpr ChunkAtRate chunks_by_rate[] = {
    {1.25e6, 4096},   // 10 Mbit/s and less
    {2.5e6, 8192},    // 20 Mbit/s
    {12.5e6, 16384},  // 100 Mbit/s
    {62.5e6, 16384},  // 500 Mbit/s
    {100e6, 61440},   // 800 Mbit/s
};
constexpr std::uint32_t chunk_at_unknown_rate = 16384;
constexpr double fast_link_rate = 100e6;  // 1 Gbit/s, less what lower layers add, for a rate may be measured
// Short messages are cut finer, so that all owners take part, down to an eighth of a chunk (2 KB, on fast links 7.5
// KB): about there handling a message costs as much as sending it, and more messages gain nothing.
constexpr std::uint32_t shortest_chunk_bytes = 2048;
constexpr std::uint32_t shortest_chunk_part = 8;
constexpr std::uint32_t least_window = 16;
constexpr std::uint32_t largest_window = 32;
// Fast links with CPU-only nodes take more. Groups of 12 (k = 4): 60 KB x 32 reach 98 % and x 16 94 % at 1 and 5
// Gbit/s; at 10 Gbit/s x 24 reach 92.8, x 64 93.2, x 96 94.8 %. Groups of 16 (k = 8): at 5 Gbit/s x 16 reach 95, x
// 24 98.6 %.
constexpr std::uint32_t largest_fast_window = 128;
constexpr double rate_of_two_groups = 312.5e6;  // 2.5 Gbit/s: more groups above

constexpr std::uint32_t chunk_multiple = 64;

Status invalid(std::string text) { return Status(Code::invalid_argument, std::move(text)); }

Status check_nodes(const std::vector<PlanNode>& nodes) {
  if (nodes.size() > max_plan_nodes) {
    return invalid(std::to_string(nodes.size()) + " nodes; at most " + std::to_string(max_plan_nodes) +
                   " are possible");
  }
  if (std::all_of(nodes.begin(), nodes.end(), [](const PlanNode& node) { return node.cpu_only; })) {
    return invalid("there is no worker node");
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].owners.empty()) return invalid("node " + std::to_string(i) + " has no rank that may own chunks");
    if (std::isfinite(nodes[i].rate) && nodes[i].rate >= 0) continue;
    return invalid("node " + std::to_string(i) + " has rate " + std::to_string(nodes[i].rate) +
                   "; it must be positive and finite, or 0 for unknown");
  }
  return Status();
}

Status check_options(const PlanOptions& options) {
  if (options.max_chunk_bytes < chunk_multiple) {
    return invalid("the largest chunk is " + std::to_string(options.max_chunk_bytes) + " bytes; it must be at least " +
                   std::to_string(chunk_multiple));
  }
  if (options.chunk_bytes != 0 &&
      (options.chunk_bytes < chunk_multiple || options.chunk_bytes > options.max_chunk_bytes)) {
    return invalid("the chunk size is " + std::to_string(options.chunk_bytes) + " bytes; it must be " +
                   std::to_string(chunk_multiple) + " to " + std::to_string(options.max_chunk_bytes));
  }
  if (std::isfinite(options.latency_s) && options.latency_s >= 0) return Status();
  return invalid("the latency is " + std::to_string(options.latency_s) + " s; it must be positive and finite");
}

bool rates_differ(const Plan& plan) {
  return std::any_of(plan.nodes.begin(), plan.nodes.end(),
                     [&plan](const auto& node) { return node.rate != plan.nodes.front().rate; });
}

// Sets the nodes' shares, and returns their weights.
Status share_out(Plan* plan, std::vector<std::uint32_t>* node_weights) {
  Shares shares = equal_shares(plan->n, plan->k);
  *node_weights = equal_weights(plan->n, plan->k);
  const bool by_rate = all_known(plan->nodes) && rates_differ(*plan);
  if (by_rate) {
    const Rates rates = rates_of(plan->nodes);
    HPS_RETURN_IF_ERROR(shares_by_bandwidth(rates.worker, rates.cpu_only, &shares));
  }
  std::vector<double> all = std::move(shares.worker);
  all.insert(all.end(), shares.cpu_only.begin(), shares.cpu_only.end());
  if (by_rate) *node_weights = weights_of_shares(all);
  for (std::size_t i = 0; i < all.size(); ++i) plan->nodes[i].share = all[i];
  return Status();
}

// `nodes` in the plan's order.
void set_owners(const std::vector<PlanNode>& nodes, const std::vector<std::uint32_t>& node_weights, Plan* plan) {
  std::vector<std::uint32_t> owners_on;
  owners_on.reserve(nodes.size());
  for (const PlanNode& node : nodes) owners_on.push_back(static_cast<std::uint32_t>(node.owners.size()));
  const std::vector<std::uint32_t> weights = split_over_owners(node_weights, owners_on);
  auto weight = weights.begin();
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    for (const Rank rank : nodes[node].owners) {
      if (*weight > 0) plan->owners.push_back({rank, node, *weight});
      ++weight;
    }
  }
}

// The slowest worker's rate, at which all work; 0 where a rate is unknown. Within one node memory is the link.
double pace(const Plan& plan) {
  if (plan.n == 1) return fast_link_rate;
  if (!all_known(plan.nodes)) return 0;
  double slowest = plan.nodes.front().rate;
  for (std::size_t i = 1; i < plan.n; ++i) slowest = std::min(slowest, plan.nodes[i].rate);
  return slowest;
}

// Between the rates of the table in proportion.
std::uint32_t default_chunk_bytes(double rate, std::uint32_t max_chunk_bytes) {
  double bytes = rate > 0 ? chunks_by_rate[0].bytes : chunk_at_unknown_rate;
  for (std::size_t i = 1; i < std::size(chunks_by_rate); ++i) {
    const ChunkAtRate& slower = chunks_by_rate[i - 1];
    const ChunkAtRate& faster = chunks_by_rate[i];
    if (rate < slower.rate) break;
    const double part = std::min((rate - slower.rate) / (faster.rate - slower.rate), 1.0);
    bytes = slower.bytes + part * (static_cast<double>(faster.bytes) - slower.bytes);
  }
  const std::uint32_t most = std::min(static_cast<std::uint32_t>(bytes), max_chunk_bytes);
  return most - most % chunk_multiple;
}

std::uint32_t default_window(const Plan& plan, std::uint32_t group, double rate) {
  const bool fast = rate >= fast_link_rate && plan.n > 2 && plan.k > 0;
  if (!fast || group >= largest_fast_window) return std::clamp(group, least_window, largest_window);
  if (plan.k >= plan.n) return std::clamp(group + group / 2, least_window, largest_fast_window);
  const double groups = 2 * std::max(1.0, rate / rate_of_two_groups);
  const double wanted = std::min(groups * group, static_cast<double>(largest_fast_window));
  return std::max(static_cast<std::uint32_t>(wanted), largest_window);
}

// Chunk sizes, window and rotation.
void set_sizes(const PlanOptions& options, Plan* plan) {
  const double rate = pace(*plan);
  plan->chunk_bytes =
      options.chunk_bytes != 0 ? options.chunk_bytes : default_chunk_bytes(rate, options.max_chunk_bytes);
  plan->min_chunk_bytes =
      std::min(std::max(shortest_chunk_bytes, plan->chunk_bytes / shortest_chunk_part), plan->chunk_bytes);
  const std::size_t group = std::max(plan->nodes.size(), plan->owners.size());  // at most 2^18
  plan->window = options.window != 0 ? options.window : default_window(*plan, static_cast<std::uint32_t>(group), rate);
  plan->rotation = std::min(static_cast<std::uint32_t>(group), plan->window);
  plan->latency_s = options.latency_s > 0 ? options.latency_s : default_latency_s(plan->n);
}

}  // namespace

Status make_plan(const std::vector<PlanNode>& nodes, const PlanOptions& options, Plan* plan) {
  HPS_RETURN_IF_ERROR(check_nodes(nodes));
  HPS_RETURN_IF_ERROR(check_options(options));
  std::vector<PlanNode> ordered = nodes;
  std::stable_partition(ordered.begin(), ordered.end(), [](const PlanNode& node) { return !node.cpu_only; });
  Plan made;
  for (const PlanNode& node : ordered) {
    (node.cpu_only ? made.k : made.n) += 1;
    made.nodes.push_back({node.cpu_only, node.rate, 0});
  }
  std::vector<std::uint32_t> node_weights;
  HPS_RETURN_IF_ERROR(share_out(&made, &node_weights));
  set_owners(ordered, node_weights, &made);
  set_sizes(options, &made);
  HPS_RETURN_IF_ERROR(made.finish());
  // Recursive doubling sends whole vectors: beyond what travels in one piece the model is too kind to it.
  made.small_bytes = recursive_doubling_up_to(made, options.max_chunk_bytes);
  made.forced = options.algorithm;
  *plan = std::move(made);
  return Status();
}

}  // namespace hps
