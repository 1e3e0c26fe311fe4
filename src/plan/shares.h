// SPDX-License-Identifier: BSD-3-Clause
// Shares: which part of a vector each node sums, and the time that follows. Pure arithmetic; seconds, bytes and bytes
// per second.
//
// n worker nodes hold a vector of M bytes each; k CPU-only nodes hold none. Every contribution goes once, straight to
// the owner of its part, and the sum comes straight back. A worker node then moves M + (n-2) * (its share) bytes each
// way, a CPU-only node n * (its share). The optimum with equal bandwidth B is BytePS's (Jiang et al., OSDI 2020): D =
// n*n + k*n - 2*k, CPU-only share 2(n-1)/D, worker share (n-k)/D, time 2n(n-1)/D * M/B. With unequal bandwidths B_i
// (workers) and C_j (CPU-only):
//     T = max( M / min B_i , 2n(n-1)M / (n sum B_i + (n-2) sum C_j) ),  share_i = (B_i T - M)/(n-2),  share_j = C_j T /
//     n
// Edges: n = 1 needs no network (time 0, the worker's share is 1); n = 2 is M / min B_i whatever k (halves, no CPU-only
// node used); k > n with equal bandwidth is M/B (worker share 0, CPU-only share 1/k).
#ifndef HPS_SRC_PLAN_SHARES_H
#define HPS_SRC_PLAN_SHARES_H

#include <cstdint>
#include <vector>

#include "util/status.h"

namespace hps {

// Fractions of the vector, in [0, 1]; all of them together sum to 1 (to rounding).
struct Shares {
  std::vector<double> worker;    // one a worker node
  std::vector<double> cpu_only;  // one a CPU-only node
};

// The optimal shares when every NIC has the same bandwidth. n >= 1.
Shares equal_shares(std::uint32_t n, std::uint32_t k);

// The optimal shares for given bandwidths (any unit, each > 0 and finite, at least one worker). Where the slowest
// worker's own traffic M / min B_i is the bound, there is slack: shares are scaled down to sum to 1. Errors:
// invalid_argument, naming the bandwidth that is not positive and finite.
Status shares_by_bandwidth(const std::vector<double>& worker_rate, const std::vector<double>& cpu_only_rate,
                           Shares* shares);

// The bound in units of M/B: 2n(n-1)/D and its edges. Multiply by bytes / (bytes per second).
double equal_bound_factor(std::uint32_t n, std::uint32_t k);

// The bound in seconds for `bytes` bytes; rates in bytes per second. Same errors as shares_by_bandwidth.
Status bound_seconds(double bytes, const std::vector<double>& worker_rate, const std::vector<double>& cpu_only_rate,
                     double* seconds);

// The seconds that given shares take (the busiest NIC), which is the bound when they are optimal.
double seconds_of_shares(double bytes, const Shares& shares, const std::vector<double>& worker_rate,
                         const std::vector<double>& cpu_only_rate);

}  // namespace hps

#endif
