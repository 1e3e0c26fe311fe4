// SPDX-License-Identifier: BSD-3-Clause
// Survey: finds the rates of nodes' links. One rank of each node sends a train to that of another, all at once, so that
// links are as busy both ways as in a call; then to others, so that a slow link is told apart from its neighbour. Up to
// four rounds of trains that take some 10 ms or more each at their rate, whatever it is: one that was too short to be
// timed is sent again, longer. Passive: it says which orders to give and is told what was measured.
#ifndef HPS_SRC_ENGINE_SURVEY_H
#define HPS_SRC_ENGINE_SURVEY_H

#include <utility>
#include <vector>

#include "plan/link_rates.h"
#include "util/counters.h"
#include "wire/survey.h"

namespace hps {

class Survey {
 public:
  struct Options {
    std::uint32_t message_bytes = 61440;  // that travels in one piece
    std::uint32_t most_messages = wire::most_train_messages;
  };
  struct Order {
    std::uint32_t number = 0;
    Rank sender = no_rank;
    wire::MeasureOrder what;
  };

  // probes[i] measures for node i; two nodes at least. Orders are numbered from `first_order` on.
  Survey(std::vector<Rank> probes, const Options& options, std::uint32_t first_order, TimeNs now);

  // The orders that are to be given now, once.
  std::vector<Order> take_orders() { return std::exchange(orders_, {}); }
  // `reporter` has timed a train.
  Rejection on_measured(std::uint32_t order, Rank reporter, const wire::Measured& measured, TimeNs now);

  bool done() const noexcept { return shift_ == shifts_.size(); }
  // By node, bytes a second; only once done.
  std::vector<double> rates() const;
  // It is given up at this time, unless something is measured before.
  TimeNs deadline() const noexcept { return deadline_; }
  // The ranks that owe something.
  void add_awaited(std::vector<Rank>* ranks) const;
  std::uint32_t next_order() const noexcept { return next_order_; }

 private:
  struct Pair {
    std::uint32_t order = 0;  // 0: it has been measured in this round
    std::uint32_t messages = 0;
  };

  std::uint32_t target(std::uint32_t node) const noexcept;
  void start_round();
  void give_order(std::uint32_t node);

  std::vector<Rank> probes_;
  Options options_;
  std::uint32_t next_order_;
  std::vector<std::uint32_t> shifts_;  // node i sends to i + shift
  std::size_t shift_ = 0;
  std::vector<Pair> pairs_;  // by sending node
  std::vector<Order> orders_;
  std::vector<PairRate> measured_;
  TimeNs deadline_;
};

}  // namespace hps

#endif
