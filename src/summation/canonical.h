// SPDX-License-Identifier: BSD-3-Clause
// The shape of one level of the canonical tree, in one function, so that kernels and programs cannot disagree on it.
//
// Over m operands, let p be the largest power of two <= m: the first 2(m-p) operands are combined in pairs, and the p
// operands that this leaves in a balanced binary tree. The halves of that tree are of the same shape, which is what
// makes it easy to cut: the left half holds p/2 operands and as many of the pairs as fit.
#ifndef HPS_SRC_SUMMATION_CANONICAL_H
#define HPS_SRC_SUMMATION_CANONICAL_H

#include <cstdint>

namespace hps {

// How many of `operands` (2 or more) stand left of the root.
constexpr std::uint32_t canonical_left(std::uint32_t operands) noexcept {
  std::uint32_t half = 1;  // p / 2
  while (half <= operands / 4) half *= 2;
  const std::uint32_t pairs = operands - 2 * half;
  return half + (pairs < half ? pairs : half);
}

}  // namespace hps

#endif
