// SPDX-License-Identifier: BSD-3-Clause
// Liveness: finds out which ranks do not answer any more, though their connections stand: stopped processes, hosts that
// are cut off. Only ranks that somebody waits for are asked, and a rank that computes answers, for its engine does.
#ifndef HPS_SRC_ENGINE_LIVENESS_H
#define HPS_SRC_ENGINE_LIVENESS_H

#include <map>
#include <vector>

#include "transport/outbox.h"

namespace hps {

class Liveness {
 public:
  // A rank that has not answered for `timeout_ns` is lost; 0 = nobody is ever asked. `outbox` must outlive this.
  Liveness(Rank self, TimeNs timeout_ns, Outbox& outbox) noexcept
      : self_(self), timeout_ns_(timeout_ns), outbox_(outbox) {}

  // How often whoever waits should say so.
  TimeNs interval_ns() const noexcept;
  // Somebody waits for `peer`: asks it, unless it owes an answer.
  void ask(Rank peer, TimeNs now);
  // A message of type ping or pong. False: it does not fit.
  bool on_message(const wire::Header& header);
  // Nothing is owed by `peer` any more: it has ended, or is lost.
  void forget(Rank peer) { asked_.erase(peer); }

  // The ranks that have not answered in time; they are forgotten.
  std::vector<Rank> overdue(TimeNs now);
  // When overdue() is to be asked, once an interval at least; never_ns where nobody owes an answer.
  TimeNs next() const noexcept { return asked_.empty() ? never_ns : next_look(); }

 private:
  TimeNs next_look() const noexcept;

  Rank self_;
  TimeNs timeout_ns_;
  Outbox& outbox_;
  std::map<Rank, TimeNs> asked_;  // since when they owe an answer
  TimeNs looked_ns_ = 0;
};

}  // namespace hps

#endif
