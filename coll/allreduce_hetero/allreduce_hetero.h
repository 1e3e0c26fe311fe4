// SPDX-License-Identifier: BSD-3-Clause
// What the algorithms of HPS_Allreduce_hetero share: their arguments, and a factory each.
#ifndef HPS_COLL_ALLREDUCE_HETERO_ALLREDUCE_HETERO_H
#define HPS_COLL_ALLREDUCE_HETERO_ALLREDUCE_HETERO_H

#include <memory>

#include "engine/membership.h"
#include "engine/operation.h"

namespace hps::allreduce_hetero {

// One call on one rank. The buffers hold `count` elements, overlap wholly (in place) or not at all, and stay until the
// operation is done. On a CPU-only rank both are nullptr.
struct Arguments {
  const std::byte* send = nullptr;
  std::byte* receive = nullptr;
  std::uint64_t count = 0;
  Datatype datatype = Datatype::float32;
  Op op = Op::sum;

  std::uint64_t bytes() const noexcept { return count * datatype_bytes(datatype); }
  wire::Signature signature() const noexcept { return {wire::Collective::allreduce_hetero, datatype, op, count}; }
};

// The factories make_local_copy, make_direct, ...: an operation that is ready to be started on `membership`, which must
// outlive it.
#define HPS_SPECIAL_CASE(collective, algorithm) \
  std::unique_ptr<Operation> make_##algorithm(Membership& membership, const Arguments& arguments);
#define HPS_ALGORITHM(collective, algorithm, summed_by) HPS_SPECIAL_CASE(collective, algorithm)
#include "coll/algorithms.def"

}  // namespace hps::allreduce_hetero

#endif
