// SPDX-License-Identifier: BSD-3-Clause
// Rates: the links' rates of a plan's nodes, by kind, as the arithmetic of shares.h takes them.
#ifndef HPS_SRC_PLAN_RATES_H
#define HPS_SRC_PLAN_RATES_H

#include <algorithm>
#include <vector>

#include "plan/plan.h"

namespace hps {

struct Rates {
  std::vector<double> worker;    // bytes a second, 0 = unknown; one a worker node
  std::vector<double> cpu_only;  // one a CPU-only node
};

inline Rates rates_of(const std::vector<PlanNodeShare>& nodes) {
  Rates rates;
  for (const PlanNodeShare& node : nodes) (node.cpu_only ? rates.cpu_only : rates.worker).push_back(node.rate);
  return rates;
}

inline bool all_known(const std::vector<PlanNodeShare>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [](const PlanNodeShare& node) { return node.rate > 0; });
}

}  // namespace hps

#endif
