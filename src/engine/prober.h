// SPDX-License-Identifier: BSD-3-Clause
// Prober: measures links for whoever gives the order. It sends a train, many messages without a pause, and times the
// trains of others: but for its beginning, which a token bucket, a switch's buffer or TCP's slow start let through at
// another rate, it arrives at the rate of the slowest link on its way. The rate is the slope of the straight line that
// fits the arrivals best, so that a thread that wakes up late does little harm. Any rank does this, in whatever groups
// it is.
#ifndef HPS_SRC_ENGINE_PROBER_H
#define HPS_SRC_ENGINE_PROBER_H

#include <map>
#include <memory>
#include <vector>

#include "transport/outbox.h"
#include "util/counters.h"
#include "util/log.h"
#include "wire/survey.h"

namespace hps {

class Prober {
 public:
  // Who is to be told of a measurement, and which of its orders it is.
  struct Client {
    Rank rank = no_rank;
    std::uint32_t handle = 0;  // of its group
    std::uint32_t order = 0;
    bool operator==(const Client&) const = default;
  };
  struct Result {
    Client client;
    wire::Measured measured;
  };

  // References must outlive the prober and what it sends.
  Prober(Rank self, Outbox& outbox, const Log& log);
  ~Prober();
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  // Sends a train, unless too many are on their way still.
  Rejection send(const Client& client, const wire::MeasureOrder& order);
  // Messages of type measure and train.
  Rejection on_order(const wire::Header& header, ConstBytes payload);
  Rejection on_train(const wire::Header& header, ConstBytes payload);
  // What has come since the last step came now. The trains that are whole.
  std::vector<Result> step(TimeNs now);
  // Whether a train is being sent.
  bool busy() const noexcept { return trains_ != 0; }

 private:
  class Train;
  struct Arriving;
  static void note(Arriving& train, TimeNs now) noexcept;
  static wire::Measured measure(Rank from, const Arriving& train, TimeNs now) noexcept;
  struct Arriving {
    Client client;
    std::uint32_t messages = 0;
    std::uint32_t arrived = 0;
    std::uint64_t bytes = 0;
    bool fresh = false;  // something has come since the last step
    // Of arrivals after its beginning, counted from the first of these: bytes and nanoseconds, in sums.
    std::uint64_t first_bytes = 0;
    TimeNs first_ns = -1;
    double points = 0, sum_bytes = 0, sum_ns = 0, sum_ns_ns = 0, sum_ns_bytes = 0;
  };

  Rank self_;
  Outbox& outbox_;
  Log log_;
  std::size_t trains_ = 0;             // being sent
  std::map<Rank, Arriving> arriving_;  // by sender
  bool fresh_ = false;
};

}  // namespace hps

#endif
