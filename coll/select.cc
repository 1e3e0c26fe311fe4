// SPDX-License-Identifier: BSD-3-Clause
#include "coll/select.h"

#include <optional>

namespace hps {
namespace {

using allreduce_hetero::Arguments;

// How the members of the group do it; nothing where nothing goes over the network.
std::optional<Algorithm> choose(const Membership& membership, const Arguments& arguments) {
  if (arguments.count == 0 || membership.members() == 1) return std::nullopt;
  return membership.plan().algorithm(arguments.bytes());
}

std::unique_ptr<Operation> named(const char* algorithm, std::unique_ptr<Operation> operation) {
  operation->set_algorithm(algorithm);
  return operation;
}

std::unique_ptr<Operation> make(Algorithm algorithm, Membership& membership, const Arguments& arguments) {
  switch (algorithm) {
#define HPS_ALGORITHM(collective, name, summed_by) \
  case Algorithm::name:                            \
    return named(#name, collective::make_##name(membership, arguments));
#include "coll/algorithms.def"
    case Algorithm::automatic:
      break;
  }
  return nullptr;  // a plan always names one
}

}  // namespace

std::unique_ptr<Operation> make_allreduce_hetero(Membership& membership, const Arguments& arguments) {
  using namespace allreduce_hetero;
  const std::optional<Algorithm> algorithm = choose(membership, arguments);
  if (algorithm && membership.awaits_plan()) return named("held", make_held(membership, arguments));
  if (algorithm && membership.self()) return make(*algorithm, membership, arguments);
  if (algorithm && summed_by(*algorithm) == SummedBy::owners) return named("serve", make_serve(membership, arguments));
  return named("local_copy", make_local_copy(membership, arguments));
}

}  // namespace hps
