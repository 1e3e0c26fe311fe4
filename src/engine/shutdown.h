// SPDX-License-Identifier: BSD-3-Clause
// Shutdown: how the ranks of a job come to its end together, and how they end when one of them is lost.
//
// A worker that is done tells the root, which is the first worker that has not gone. When all are done the root tells
// every rank of the job: workers wait no longer, CPU-only ranks serve no longer. That is 2(n - 1) + k messages, and a
// worker that comes late is waited for.
//
// Once a rank is lost nobody waits for workers: one that is done tells every rank so, and who was lost. A CPU-only rank
// serves until each worker has said that it is done, or has gone.
//
// Ranks that have exchanged nothing do not notice each other's death, so whoever waits asks those for whom it waits,
// now and then. MPI takes no part: its requests could not be given up when a rank has died.
#ifndef HPS_SRC_ENGINE_SHUTDOWN_H
#define HPS_SRC_ENGINE_SHUTDOWN_H

#include <set>
#include <vector>

#include "engine/liveness.h"
#include "engine/stall_timer.h"
#include "transport/outbox.h"

namespace hps {

class Shutdown {
 public:
  // References must outlive this.
  Shutdown(Rank self, Outbox& outbox, Liveness& liveness) noexcept
      : self_(self), outbox_(outbox), liveness_(liveness) {}

  // The ranks of the job, in the same order on all of them.
  void open(std::vector<Rank> workers, std::vector<Rank> cpu_only);
  // This worker is done.
  void begin() noexcept { begun_ = true; }
  // Whether this rank may take its leave. A CPU-only rank serves until then.
  bool complete() const noexcept { return complete_; }
  // The first rank of which it is known that it was lost; ok where there is none.
  const Status& loss() const noexcept { return loss_; }

  bool is_worker(Rank rank) const noexcept;

  // A message of type shutdown. False: it does not fit.
  bool on_message(const wire::Header& header, ConstBytes payload);
  // `peer` is lost, and calls here waited for it.
  void on_peer_failed(Rank peer, const Status& why);
  // `peer` has ended in good order, or, where `why` is not ok, has gone without a word to this rank, which needed
  // nothing of it. That is a loss where the root has gone so, for it ends after all others were told to, or where this
  // is the root; otherwise the root knows.
  void on_peer_ended(Rank peer, const Status& why);
  // Does what is left to do. Returns when it wants to be called again though nothing happens.
  TimeNs step(TimeNs now) { return complete_ || !(serves_ || begun_) ? never_ns : work(now); }

 private:
  bool is_over(Rank worker) const noexcept { return over_.contains(worker); }
  Rank root() const noexcept;
  std::vector<Rank> missing() const;
  TimeNs work(TimeNs now);
  void work_as_worker();
  void tell(Rank to, bool for_all);
  void tell_everyone(bool for_all);
  TimeNs look_for_lost(TimeNs now);

  Rank self_;
  Outbox& outbox_;
  Liveness& liveness_;
  std::vector<Rank> workers_;  // none: not in a job
  std::vector<Rank> cpu_only_;
  std::set<Rank> over_;   // workers that are done, or have gone
  Rank told_ = no_rank;   // the root that knows of this worker
  Rank asked_ = no_rank;  // the root that was last asked whether it is there
  TimeNs waits_since_ns_ = never_ns;
  Interval looks_;
  Status loss_;
  bool serves_ = false;  // a CPU-only rank of a job
  bool begun_ = false;
  bool told_to_end_ = false;
  bool complete_ = false;
};

}  // namespace hps

#endif
