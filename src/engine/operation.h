// SPDX-License-Identifier: BSD-3-Clause
// Operation: one call under way on one rank, as a state machine. Algorithms (coll/) derive from it; their Membership
// tells them what arrives.
#ifndef HPS_SRC_ENGINE_OPERATION_H
#define HPS_SRC_ENGINE_OPERATION_H

#include <vector>

#include "transport/transport.h"
#include "util/status.h"
#include "util/types.h"
#include "wire/header.h"

namespace hps {

class Operation : public SendCompletion {
 public:
  explicit Operation(const wire::Signature& signature) : signature_(signature) {}
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  virtual ~Operation() = default;

  const wire::Signature& signature() const noexcept { return signature_; }
  std::uint32_t sequence() const noexcept { return sequence_; }
  // Its place in the order of calls on its group; the Membership sets it, once.
  void set_sequence(std::uint32_t sequence) noexcept { sequence_ = sequence; }

  // How it is carried out, as coll/algorithms.def spells it.
  const char* algorithm() const noexcept { return carrier_->algorithm_; }
  void set_algorithm(const char* name) noexcept { algorithm_ = name; }

  // It has its result, or has failed; sends may be under way.
  bool ended() const noexcept { return carrier_->ended_; }
  // Nothing of the call is under way any more: its buffers are the caller's again, and it may be destroyed.
  bool done() const noexcept { return carrier_->ended_ && carrier_->sends_ == 0; }
  // How it ended; meaningless before done().
  const Status& status() const noexcept { return carrier_->status_; }

  // Called by the Membership.
  virtual void start() = 0;
  // An owner has answered a JOIN or granted more credits.
  virtual void on_progress() {}
  // An owner has dropped the pushes that have no result, and takes none until it is joined again.
  virtual void on_revoked(std::uint32_t /*owner*/) {}
  // A result whose header has this call's sequence number. False: it does not fit.
  virtual bool on_result(const wire::Header&, ConstBytes) { return false; }
  // A message of another member, `step` of the algorithm. False: it does not fit.
  virtual bool on_exchange(std::uint32_t /*member*/, std::uint32_t /*step*/, ConstBytes) { return false; }
  // Ends the call with an error, unless it has ended. Derived classes undo what they have registered.
  virtual void fail(const Status& why) {
    if (!ended_) end(why);
  }
  // Whether it is to be started only when its group has the plan that it awaits.
  virtual bool awaits_plan() const noexcept { return false; }
  // Whether every member's result takes messages of member 0 that go through owners, which pass on what their headers
  // say.
  virtual bool reaches_all() const noexcept { return false; }
  // The members whose messages it waits for now, beside what it waits for from owners.
  virtual void add_awaited(std::vector<std::uint32_t>* /*members*/) const {}

  // How often it has moved: the Membership counts what arrives for it.
  std::uint64_t moves() const noexcept { return carrier_->moves_; }
  void count_move() noexcept { ++carrier_->moves_; }

  // Part of SendCompletion: for sends straight from the caller's buffers. A failed send means a lost peer, which the
  // engine tells.
  void on_sent(const Status&) noexcept override {
    --sends_;
    ++moves_;
  }

 protected:
  // From now on this call is what `carrier` is.
  void set_carrier(Operation& carrier) noexcept { carrier_ = &carrier; }
  void count_send() noexcept { ++sends_; }
  void uncount_send() noexcept { --sends_; }
  void end(const Status& status) noexcept {
    ended_ = true;
    status_ = status;
  }

 private:
  wire::Signature signature_;
  const char* algorithm_ = "";
  Operation* carrier_ = this;
  std::uint32_t sequence_ = 0;
  std::uint32_t sends_ = 0;
  std::uint64_t moves_ = 0;
  bool ended_ = false;
  Status status_;
};

}  // namespace hps

#endif
