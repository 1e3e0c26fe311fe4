// SPDX-License-Identifier: BSD-3-Clause
#include "plan/estimate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <vector>

#include "plan/shares.h"

namespace hps {
namespace {

constexpr double network_latency_s = 50e-6;  // kernel TCP, the receiver asleep: 25 to 50 us were measured
constexpr double memory_latency_s = 5e-6;
constexpr double network_rate = 125e6;  // 1 Gbit/s
constexpr double memory_rate = 2e9;     // two copies through shared memory while other cores do the same
// What a rank's CPU spends on one message, of the latency. It overlaps with the transfer, but not with other messages'.
constexpr double cpu_part_of_latency = 0.3;
constexpr double longest_cpu_s = 15e-6;

double message_cpu_s(const Plan& plan) { return std::min(plan.latency_s * cpu_part_of_latency, longest_cpu_s); }

// The plan as the model sees it: nodes with a rate, and each owner on one of them.
struct Model {
  std::vector<double> worker_rate;
  std::vector<double> cpu_only_rate;
  std::vector<std::size_t> place_of;  // of each owner: workers first, then CPU-only nodes
};

Model model_of(const Plan& plan) {
  Model model;
  if (plan.n == 1) {
    model.worker_rate.assign(plan.owners.size(), memory_rate);
    for (std::size_t owner = 0; owner < plan.owners.size(); ++owner) model.place_of.push_back(owner);
    return model;
  }
  for (const PlanNodeShare& node : plan.nodes) {
    (node.cpu_only ? model.cpu_only_rate : model.worker_rate).push_back(node.rate > 0 ? node.rate : network_rate);
  }
  for (const PlanOwner& owner : plan.owners) model.place_of.push_back(owner.node);
  return model;
}

// Which part of a message each owner sums, and how many chunks that is.
struct Load {
  std::vector<double> part;
  std::vector<double> chunks;
};

Load load_of(const Plan& plan, std::uint64_t bytes) {
  const Chunking cut = plan.chunking(bytes, 1);
  Load load{std::vector<double>(plan.owners.size()), std::vector<double>(plan.owners.size())};
  const double period = plan.sequence().period();
  if (cut.chunks >= plan.sequence().period()) {
    for (std::size_t owner = 0; owner < plan.owners.size(); ++owner) {
      load.part[owner] = plan.owners[owner].weight / period;
      load.chunks[owner] = load.part[owner] * static_cast<double>(cut.chunks);
    }
    return load;
  }
  for (std::uint64_t chunk = 0; chunk < cut.chunks; ++chunk) {
    const std::uint32_t owner = plan.owner_of(chunk);
    const std::uint64_t begin = chunk * cut.elements_per_chunk;
    const std::uint64_t end = std::min(bytes, begin + cut.elements_per_chunk);
    load.part[owner] += static_cast<double>(end - begin) / static_cast<double>(bytes);
    load.chunks[owner] += 1;
  }
  return load;
}

}  // namespace

double default_latency_s(std::uint32_t n) { return n == 1 ? memory_latency_s : network_latency_s; }

double recursive_doubling_seconds(const Plan& plan, double bytes) {
  const Model model = model_of(plan);
  const std::size_t ranks = model.worker_rate.size();
  const int steps = static_cast<int>(std::bit_width(ranks)) - 1 + (std::has_single_bit(ranks) ? 0 : 2);
  const double slowest = *std::min_element(model.worker_rate.begin(), model.worker_rate.end());
  return steps * (plan.latency_s + bytes / slowest);
}

double direct_seconds(const Plan& plan, double bytes) {
  if (bytes < 1) return 0;
  const Model model = model_of(plan);
  // Beyond 2^60 bytes nothing changes but the time, and an integer would overflow.
  const Load load = load_of(plan, static_cast<std::uint64_t>(std::min(bytes, 0x1p60)));
  const std::size_t workers = model.worker_rate.size();
  Shares parts{std::vector<double>(workers), std::vector<double>(model.cpu_only_rate.size())};
  double all_chunks = 0;
  double most_chunks = 0;
  for (std::size_t owner = 0; owner < plan.owners.size(); ++owner) {
    const std::size_t place = model.place_of[owner];
    (place < workers ? parts.worker[place] : parts.cpu_only[place - workers]) += load.part[owner];
    all_chunks += load.chunks[owner];
    most_chunks = std::max(most_chunks, load.chunks[owner]);
  }
  // A worker sends a push and gets a result for every chunk, an owner for every worker and each of its own.
  const double messages = 2 * std::max(all_chunks, most_chunks * static_cast<double>(workers));
  const double network = seconds_of_shares(bytes, parts, model.worker_rate, model.cpu_only_rate);
  return 2 * plan.latency_s + std::max(network, messages * message_cpu_s(plan));
}

std::uint32_t recursive_doubling_up_to(const Plan& plan, std::uint32_t longest) {
  std::uint32_t best = 0;
  for (std::uint32_t bytes = 64; bytes <= longest; bytes += std::max(64u, bytes / 8 / 64 * 64)) {
    if (recursive_doubling_seconds(plan, bytes) > direct_seconds(plan, bytes)) return best;
    best = bytes;
  }
  return longest;
}

}  // namespace hps
