// SPDX-License-Identifier: BSD-3-Clause
#include "coll/select.h"

namespace hps {

std::unique_ptr<Operation> make_allreduce_hetero(Membership& membership, const allreduce_hetero::Arguments& arguments) {
  using namespace allreduce_hetero;
  if (!membership.self()) return make_serve(membership, arguments);
  if (arguments.count == 0 || membership.members() == 1) return make_local_copy(membership, arguments);
  if (membership.plan().algorithm(arguments.bytes()) == Algorithm::recursive_doubling)
    return make_recursive_doubling(membership, arguments);
  return make_direct(membership, arguments);
}

}  // namespace hps
