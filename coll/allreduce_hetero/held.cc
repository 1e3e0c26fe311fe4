// SPDX-License-Identifier: BSD-3-Clause
// A call that comes while its group awaits a new plan. What it does, and into which chunks it is cut, is decided when
// it starts: then it makes the operation that the new plan asks for, and is that from there on.
#include <utility>

#include "coll/allreduce_hetero/allreduce_hetero.h"
#include "coll/select.h"

namespace hps::allreduce_hetero {
namespace {

class Held final : public Operation {
 public:
  Held(Membership& membership, const Arguments& arguments)
      : Operation(arguments.signature()), membership_(membership), arguments_(arguments) {}

  bool awaits_plan() const noexcept override { return true; }

  void start() override {
    made_ = make_allreduce_hetero(membership_, arguments_);
    made_->set_sequence(sequence());
    set_carrier(*made_);
    made_->start();
  }
  void on_progress() override {
    if (made_) made_->on_progress();
  }
  void on_revoked(std::uint32_t owner) override {
    if (made_) made_->on_revoked(owner);
  }
  bool on_result(const wire::Header& header, ConstBytes payload) override {
    return made_ && made_->on_result(header, payload);
  }
  bool on_exchange(std::uint32_t member, std::uint32_t step, ConstBytes payload) override {
    return made_ && made_->on_exchange(member, step, payload);
  }
  void fail(const Status& why) override { made_ ? made_->fail(why) : Operation::fail(why); }
  void add_awaited(std::vector<std::uint32_t>* members) const override {
    if (made_) made_->add_awaited(members);
  }

 private:
  Membership& membership_;
  Arguments arguments_;
  std::unique_ptr<Operation> made_;
};

}  // namespace

std::unique_ptr<Operation> make_held(Membership& membership, const Arguments& arguments) {
  return std::make_unique<Held>(membership, arguments);
}

}  // namespace hps::allreduce_hetero
