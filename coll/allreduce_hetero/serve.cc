// SPDX-License-Identifier: BSD-3-Clause
// The part of a CPU-only rank in the collective form: it waits until its own Summation Service has summed its chunks of
// this call, which the workers meanwhile push to their owners.
#include "coll/allreduce_hetero/allreduce_hetero.h"

namespace hps::allreduce_hetero {
namespace {

class Serve final : public Operation, private LocalCall {
 public:
  Serve(Membership& membership, const Arguments& arguments)
      : Operation(arguments.signature()), membership_(membership) {}

  void start() override {
    LocalCall::sequence = Operation::sequence();
    LocalCall::signature = Operation::signature();
    const Status posted = membership_.post(*this, &left_);
    if (!posted.ok() || left_ == 0) end(posted);
  }

  void fail(const Status& why) override {
    membership_.withdraw(*this);
    Operation::fail(why);
  }

  // Whoever has not pushed.
  void add_awaited(std::vector<std::uint32_t>* members) const override {
    for (std::uint32_t member = 0; member < membership_.members(); ++member) members->push_back(member);
  }

 private:
  void on_chunk_summed(std::uint64_t, ConstBytes) override {
    if (--left_ == 0) end({});
  }
  void on_aborted(const Status& why) override { Operation::fail(why); }

  Membership& membership_;
  std::uint64_t left_ = 0;
};

}  // namespace

std::unique_ptr<Operation> make_serve(Membership& membership, const Arguments& arguments) {
  return std::make_unique<Serve>(membership, arguments);
}

}  // namespace hps::allreduce_hetero
