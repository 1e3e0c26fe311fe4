// SPDX-License-Identifier: BSD-3-Clause
// The part of a CPU-only rank in the collective form: it waits until its own Summation Service has summed its chunks of
// this call. The workers meanwhile run `direct`. Small messages and groups in which it owns nothing need nothing of it.
#include "coll/allreduce_hetero/allreduce_hetero.h"

namespace hps::allreduce_hetero {
namespace {

class Serve final : public Operation, private LocalCall {
 public:
  Serve(Membership& membership, const Arguments& arguments)
      : Operation(arguments.signature()), membership_(membership), bytes_(arguments.bytes()) {}

  void start() noexcept override {
    const Plan& plan = membership_.plan();
    if (bytes_ == 0 || plan.algorithm(bytes_) != Algorithm::direct || membership_.members() == 1) return end({});
    LocalCall::sequence = Operation::sequence();
    LocalCall::signature = Operation::signature();
    const Status posted = membership_.post(*this, &left_);
    if (!posted.ok() || left_ == 0) end(posted);
  }

  void fail(const Status& why) noexcept override {
    membership_.withdraw(*this);
    Operation::fail(why);
  }

 private:
  void on_chunk_summed(std::uint64_t, ConstBytes) noexcept override {
    if (--left_ == 0) end({});
  }
  void on_aborted(const Status& why) noexcept override { Operation::fail(why); }

  Membership& membership_;
  std::uint64_t bytes_;
  std::uint64_t left_ = 0;
};

}  // namespace

std::unique_ptr<Operation> make_serve(Membership& membership, const Arguments& arguments) {
  return std::make_unique<Serve>(membership, arguments);
}

}  // namespace hps::allreduce_hetero
