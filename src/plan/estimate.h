// SPDX-License-Identifier: BSD-3-Clause
// Estimates: what a message is expected to take under a plan, by either algorithm, in the alpha-beta model: a message
// of m bytes takes latency + m / rate, and a node's link carries one byte after the other. Rates that the plan does not
// know count as 1 Gbit/s. On one node (n = 1) there is no network: every owner rank counts as a node whose link is the
// node's memory.
#ifndef HPS_SRC_PLAN_ESTIMATE_H
#define HPS_SRC_PLAN_ESTIMATE_H

#include <cstdint>

#include "plan/plan.h"

namespace hps {

// The latency that a plan assumes until one is measured: what a short message takes over Ethernet, or within a node.
double default_latency_s(std::uint32_t n);

// Recursive doubling among the workers: log2(n) steps, each a whole vector each way at the slowest worker's rate; where
// n is no power of two, floor(log2(n)) + 2.
double recursive_doubling_seconds(const Plan& plan, double bytes);

// Every contribution straight to its owner and the result straight back: two latencies and the busiest node's traffic,
// for the chunks that a message of `bytes` really has, or the busiest rank's messages where these take longer.
double direct_seconds(const Plan& plan, double bytes);

// The threshold: the size up to which recursive doubling is no slower than direct placement, at most `longest`. The
// plan is finished but for small_bytes.
std::uint32_t recursive_doubling_up_to(const Plan& plan, std::uint32_t longest);

}  // namespace hps

#endif
