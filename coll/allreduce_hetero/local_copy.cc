// SPDX-License-Identifier: BSD-3-Clause
// Nothing goes over the network: a group of one member, or no elements, where the result is the contribution; or a
// CPU-only rank, whose buffers are nullptr, where the members sum without it.
#include <cstring>

#include "coll/allreduce_hetero/allreduce_hetero.h"

namespace hps::allreduce_hetero {
namespace {

class LocalCopy final : public Operation {
 public:
  explicit LocalCopy(const Arguments& arguments) : Operation(arguments.signature()), arguments_(arguments) {}

  void start() override {
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
