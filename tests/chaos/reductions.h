// SPDX-License-Identifier: BSD-3-Clause
// Reductions: the datatypes and operations that random calls use, each with values on which a wrong order shows and
// with the serial reference of the canonical tree. Types with bytes that do not count are left out, so that results
// compare with memcmp.
#ifndef HPS_TESTS_CHAOS_REDUCTIONS_H
#define HPS_TESTS_CHAOS_REDUCTIONS_H

#include <cstdint>
#include <vector>

#include "plan/layout.h"
#include "util/types.h"

namespace hps::chaos {

using ByteVector = std::vector<std::byte>;

struct Reduction {
  Datatype datatype;
  Op op;
  // `count` elements that follow from the seed.
  ByteVector (*values)(std::uint64_t seed, std::uint64_t count);
  // What every rank must get; contributions by member.
  ByteVector (*expected)(const Layout& layout, Op op, const std::vector<ByteVector>& contributions);
};

const std::vector<Reduction>& reductions();

}  // namespace hps::chaos

#endif
