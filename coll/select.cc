// SPDX-License-Identifier: BSD-3-Clause
#include "coll/select.h"

namespace hps {

std::unique_ptr<Operation> make_allreduce_hetero(Membership& membership, const allreduce_hetero::Arguments& arguments) {
  using namespace allreduce_hetero;
  if (!membership.self()) return make_serve(membership, arguments);
  if (arguments.count == 0 || membership.members() == 1) return make_local_copy(membership, arguments);
  switch (membership.plan().algorithm(arguments.bytes())) {
#define HPS_ALGORITHM(collective, name) \
  case Algorithm::name:                 \
    return make_##name(membership, arguments);
#include "coll/algorithms.def"
    case Algorithm::automatic:
      break;
  }
  return nullptr;  // a plan always names one
}

}  // namespace hps
