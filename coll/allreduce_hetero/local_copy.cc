// SPDX-License-Identifier: BSD-3-Clause
// A group of one member, or no elements: the result is the contribution. No messages.
#include <cstring>

#include "coll/allreduce_hetero/allreduce_hetero.h"

namespace hps::allreduce_hetero {
namespace {

class LocalCopy final : public Operation {
 public:
  explicit LocalCopy(const Arguments& arguments) : Operation(arguments.signature()), arguments_(arguments) {}

  void start() noexcept override {
    if (arguments_.send != arguments_.receive && arguments_.count != 0)
      std::memcpy(arguments_.receive, arguments_.send, arguments_.bytes());
    end({});
  }

 private:
  Arguments arguments_;
};

}  // namespace

std::unique_ptr<Operation> make_local_copy(Membership&, const Arguments& arguments) {
  return std::make_unique<LocalCopy>(arguments);
}

}  // namespace hps::allreduce_hetero
