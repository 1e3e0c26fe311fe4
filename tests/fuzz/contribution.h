// SPDX-License-Identifier: BSD-3-Clause
// What the members of a scripted group contribute, and what their sum is by the serial reference.
#ifndef HPS_TESTS_FUZZ_CONTRIBUTION_H
#define HPS_TESTS_FUZZ_CONTRIBUTION_H

#include <cstdint>
#include <vector>

#include "plan/layout.h"
#include "wire/header.h"

namespace hps::fuzz {

// Elements [first, first + elements) of the vector of one member in one call. `seed` names both.
struct Slice {
  std::uint64_t first = 0;
  std::uint64_t elements = 0;
};

// The calls that a script chooses from: datatypes of several sizes, with wide intermediate values and without, and
// counts from none to many chunks.
inline constexpr std::uint32_t signatures = 10;
wire::Signature signature(std::uint32_t choice, std::uint64_t scale);

// The values are such that another order of summation gives other bits.
std::vector<std::byte> contribution(const wire::Signature& signature, std::uint64_t seed, const Slice& slice);

// The result of members 0, 1, ... whose seeds these are.
std::vector<std::byte> expected_sum(const wire::Signature& signature, const Layout& layout,
                                    const std::vector<std::uint64_t>& seeds, const Slice& slice);

}  // namespace hps::fuzz

#endif
