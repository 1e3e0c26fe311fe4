// SPDX-License-Identifier: BSD-3-Clause
// How one message is cut into chunks. Long messages get the plan's chunk size. A message too short to give every owner
// about four chunks of it gets smaller ones, so that all owners share the work, down to min_chunk_bytes, below
// which the cost of a message is all that counts: then some owners get none.
#include <algorithm>
#include <numeric>

#include "plan/plan.h"

namespace hps {
namespace {

constexpr std::uint64_t chunks_an_owner = 4;  // with fewer, an owner that gets one more than its part is too late
constexpr std::uint64_t alignment = 64;       // a cache line, and the widest vector register

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace

Chunking Plan::chunking(std::uint64_t count, std::size_t element_bytes) const noexcept {
  const std::uint64_t bytes = count * element_bytes;
  const std::uint64_t shared_out = divide_up(bytes, chunks_an_owner * owners.size());
  const std::uint64_t wanted = std::clamp<std::uint64_t>(shared_out, min_chunk_bytes, chunk_bytes);
  // So many elements are a multiple of 64 bytes. element_bytes <= 64 <= chunk_bytes: a chunk holds one element at
  // least, but perhaps not this many, where element_bytes is odd.
  const std::uint64_t multiple = alignment / std::gcd<std::uint64_t>(alignment, element_bytes);
  const std::uint64_t most = chunk_bytes / element_bytes;
  std::uint64_t elements = divide_up(divide_up(wanted, element_bytes), multiple) * multiple;
  if (elements > most) elements = most >= multiple ? most - most % multiple : most;
  return {elements, divide_up(count, elements)};
}

}  // namespace hps
