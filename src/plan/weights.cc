// SPDX-License-Identifier: BSD-3-Clause
#include "plan/weights.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <numeric>

#include "plan/sequence.h"
#include "plan/shares.h"

namespace hps {
namespace {

// Above these the periods cost more memory and time to build than the last thousandth of the shares is worth.
constexpr std::uint64_t longest_exact_period = 1u << 14;
constexpr std::uint64_t longest_split_period = 1u << 16;
constexpr double tolerated_growth = 1.001;

// share * scale is a whole number for some nodes by construction; rounding errors must not take a chunk from them.
double floor_of(double parts) { return std::floor(parts + 1e-9); }

// Shares that are equal, each once, with how many nodes have it; those that get no chunk even at `longest` left out.
std::map<double, double> kinds_of(const std::vector<double>& shares, double longest) {
  std::map<double, double> kinds;
  for (const double share : shares) {
    if (floor_of(share * longest) >= 1) ++kinds[share];
  }
  return kinds;
}

// By how much nodes' parts grow when shares are rounded down to multiples of 1 / scale.
double growth(const std::map<double, double>& kinds, double scale) {
  double weights = 0;
  for (const auto& [share, nodes] : kinds) weights += nodes * floor_of(share * scale);
  return scale / weights;
}

// The scale that shares are multiplied with before they are rounded down. Candidates are those that give the largest
// share a whole number of chunks, so the sum of weights is never 0. Where many nodes differ no short period can fit
// them all, and looking for it would cost more than it saves.
double choose_scale(const std::map<double, double>& kinds, double longest) {
  constexpr std::size_t many_kinds = 16;
  if (kinds.size() > many_kinds) return longest;
  double best = longest;
  double best_growth = growth(kinds, longest);
  const double largest = kinds.rbegin()->first;
  for (double chunks = 1; chunks / largest < longest; ++chunks) {
    const double scale = chunks / largest;
    const double candidate = growth(kinds, scale);
    if (candidate <= tolerated_growth) return scale;
    if (candidate < best_growth) {
      best = scale;
      best_growth = candidate;
    }
  }
  return best;
}

}  // namespace

std::vector<std::uint32_t> equal_weights(std::uint32_t n, std::uint32_t k) {
  assert(n >= 1 && std::uint64_t{n} + k <= max_plan_nodes);
  std::uint32_t worker = 1;
  std::uint32_t cpu_only = 0;
  if (n > 2 && k > 0) {
    worker = k < n ? n - k : 0;
    cpu_only = 2 * (n - 1);
    const std::uint32_t common = std::gcd(worker, cpu_only);  // gcd(0, x) is x: k >= n gives 0 and 1
    worker /= common;
    cpu_only /= common;
  }
  if (std::uint64_t{n} * worker + std::uint64_t{k} * cpu_only > longest_exact_period) {
    Shares shares = equal_shares(n, k);
    shares.worker.insert(shares.worker.end(), shares.cpu_only.begin(), shares.cpu_only.end());
    return weights_of_shares(shares.worker);
  }
  std::vector<std::uint32_t> weights(n, worker);
  weights.insert(weights.end(), k, cpu_only);
  return weights;
}

std::vector<std::uint32_t> weights_of_shares(const std::vector<double>& shares) {
  assert(!shares.empty() && shares.size() <= max_plan_nodes);
  const double longest =
      std::clamp<double>(1024.0 * static_cast<double>(shares.size()), longest_exact_period, ChunkSequence::max_period);
  const double scale = choose_scale(kinds_of(shares, longest), longest);
  std::vector<std::uint32_t> weights(shares.size());
  std::transform(shares.begin(), shares.end(), weights.begin(),
                 [scale](double share) { return static_cast<std::uint32_t>(floor_of(share * scale)); });
  return weights;
}

namespace {

// The least multiple of the weights that every node can split evenly, or 0 where that makes the period too long.
std::uint64_t even_multiple(const std::vector<std::uint32_t>& node_weights, const std::vector<std::uint32_t>& owners,
                            std::uint64_t limit) {
  std::uint64_t multiple = 1;
  for (std::size_t node = 0; node < owners.size(); ++node) {
    const std::uint64_t needed = owners[node] / std::gcd(owners[node], node_weights[node]);
    multiple = std::lcm(multiple, needed);
    if (multiple > limit) return 0;
  }
  return multiple;
}

}  // namespace

std::vector<std::uint32_t> split_over_owners(const std::vector<std::uint32_t>& node_weights,
                                             const std::vector<std::uint32_t>& owners) {
  assert(node_weights.size() == owners.size());
  const std::uint64_t period = std::accumulate(node_weights.begin(), node_weights.end(), std::uint64_t{0});
  assert(period > 0);
  const std::uint64_t limit = std::max<std::uint64_t>(1, longest_split_period / period);
  std::uint64_t multiple = even_multiple(node_weights, owners, limit);
  if (multiple == 0) multiple = limit;
  std::vector<std::uint32_t> weights;
  for (std::size_t node = 0; node < owners.size(); ++node) {
    const std::uint64_t chunks = node_weights[node] * multiple;
    const std::uint64_t more = chunks % owners[node];
    for (std::uint32_t owner = 0; owner < owners[node]; ++owner) {
      weights.push_back(static_cast<std::uint32_t>(chunks / owners[node] + (owner < more ? 1 : 0)));
    }
  }
  return weights;
}

}  // namespace hps
