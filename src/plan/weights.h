// SPDX-License-Identifier: BSD-3-Clause
// Weights: shares in whole chunks. A node that owns weight w sums w chunks of every period of the chunk sequence; the
// period is the sum of all weights. Short periods are worth having: every rank keeps the sequence in memory.
#ifndef HPS_SRC_PLAN_WEIGHTS_H
#define HPS_SRC_PLAN_WEIGHTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hps {

// More nodes than this are not planned for.
inline constexpr std::size_t max_plan_nodes = 1u << 16;

// The exact weights of n >= 1 worker nodes and, after them, k CPU-only nodes with equal links: the integers that
// equal_shares() has as numerators, divided by what they have in common. Where they sum to more than 2^14 (hundreds of
// nodes), weights_of_shares(equal_shares(n, k)) instead. n + k <= max_plan_nodes.
std::vector<std::uint32_t> equal_weights(std::uint32_t n, std::uint32_t k);

// Weights of any shares (each >= 0, sum 1; 1 to max_plan_nodes of them). Rounded down, so that the part of no node
// grows by more than the factor (scale / sum of weights): a slow node must not get a chunk too many, for all wait for
// the slowest. The shortest period is taken for which that factor is at most 1.001, or the best up to a limit
// that grows with the number of nodes (2^14 to 2^18). Equal shares get equal weights. A share that is too small for a
// chunk of that limit becomes 0.
std::vector<std::uint32_t> weights_of_shares(const std::vector<double>& shares);

// Splits each node's weight over its owners[node] >= 1 owners; returns the owners' weights, node by node. All weights
// are multiplied by what makes that even; where the period would exceed 2^16, by what fits, and a node's first owners
// get one chunk more than its others.
std::vector<std::uint32_t> split_over_owners(const std::vector<std::uint32_t>& node_weights,
                                             const std::vector<std::uint32_t>& owners);

}  // namespace hps

#endif
