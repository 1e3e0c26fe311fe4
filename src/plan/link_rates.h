// SPDX-License-Identifier: BSD-3-Clause
// Link rates: from what was measured between pairs of nodes to a rate for each node. A pair shows the slower of two
// links, the sender's up and the receiver's down; so a link is as fast as
// the best of its pairs; as the second best where it is in four or more, for one may have been timed too short.
#ifndef HPS_SRC_PLAN_LINK_RATES_H
#define HPS_SRC_PLAN_LINK_RATES_H

#include <cstdint>
#include <vector>

namespace hps {

struct PairRate {
  std::uint32_t from = 0;  // nodes, 0 .. nodes-1
  std::uint32_t to = 0;
  double rate = 0;  // bytes a second
};

// Each node's rate, the worse of its two directions; 0 where one of them is in no pair. Nodes with a slow link are told
// apart from their neighbours only where each node is in pairs with several others.
std::vector<double> link_rates(std::uint32_t nodes, const std::vector<PairRate>& pairs);

// Rates that follow each other closely (each at least 0.8 of the one before, and all within 30 %) count as equal, at
// their median. Measuring is no better than that, and shares that differ for nothing cost time.
std::vector<double> evened_out(std::vector<double> rates);

}  // namespace hps

#endif
