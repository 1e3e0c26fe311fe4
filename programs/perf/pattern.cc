// SPDX-License-Identifier: BSD-3-Clause
#include "perf/pattern.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace hps::perf {
namespace {

// SplitMix64's finisher (Steele, Lea, Flood, OOPSLA 2014): neighbours get unrelated values.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Whole numbers from -50 to 50; for products 1, 2 and 3 from the first eight ranks and ones from the others (3^8 is
// well within the 24 bits of a float), with either sign. As an unsigned type they wrap around.
std::int64_t whole_number(Op op, std::uint32_t rank, std::uint64_t index) {
  const std::uint64_t random = mix(rank * Pattern::period + index);
  if (op != Op::prod) return static_cast<std::int64_t>(random % 101) - 50;
  const std::int64_t magnitude = rank < 8 ? 1 + static_cast<std::int64_t>(random % 3) : 1;
  return (random >> 32) % 2 == 0 ? magnitude : -magnitude;
}

// Integers are combined as unsigned 64-bit numbers and cut to their width afterwards: sums and products modulo 2^64 are
// also right modulo 2^8 to 2^32, and nothing overflows on the way.
template <class T>
auto widen(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value;
  } else {
    return static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
  }
}

template <class T>
T combine_two(Op op, T left, T right) {
  switch (op) {
    case Op::sum:
      return static_cast<T>(widen(left) + widen(right));
    case Op::prod:
      return static_cast<T>(widen(left) * widen(right));
    case Op::min:
      return std::min(left, right);
    case Op::max:
      return std::max(left, right);
  }
  return left;
}

template <class T>
T result_of(Op op, std::uint32_t ranks, std::uint64_t index) {
  T result = static_cast<T>(whole_number(op, 0, index));
  for (std::uint32_t rank = 1; rank < ranks; ++rank) {
    result = combine_two(op, result, static_cast<T>(whole_number(op, rank, index)));
  }
  return result;
}

template <class T>
void write_period(Op op, std::uint32_t ranks, std::uint32_t rank, std::byte* contribution, std::byte* result) {
  for (std::uint64_t index = 0; index < Pattern::period; ++index) {
    const T own = static_cast<T>(whole_number(op, rank, index));
    const T all = result_of<T>(op, ranks, index);
    std::memcpy(contribution + index * sizeof(T), &own, sizeof(T));
    std::memcpy(result + index * sizeof(T), &all, sizeof(T));
  }
}

// Calls visit(offset, place, elements) for the runs of elements that lie in one piece in the repeated period.
template <class Visit>
void for_each_run(std::uint64_t count, std::uint64_t shift, Visit visit) {
  std::uint64_t place = shift % Pattern::period;
  for (std::uint64_t offset = 0; offset < count;) {
    const std::uint64_t elements = std::min(count - offset, Pattern::period - place);
    visit(offset, place, elements);
    offset += elements;
    place = 0;
  }
}

}  // namespace

Pattern::Pattern(Datatype datatype, Op op, std::uint32_t ranks, std::uint32_t rank)
    : element_bytes_(datatype_bytes(datatype)),
      contribution_(period * element_bytes_),
      result_(period * element_bytes_) {
  switch (datatype) {
#define HPS_DATATYPE(name, ctype)                                               \
  case Datatype::name:                                                          \
    write_period<ctype>(op, ranks, rank, contribution_.data(), result_.data()); \
    break;
#include "util/datatypes.def"
#undef HPS_DATATYPE
  }
}

void Pattern::fill(void* buffer, std::uint64_t count, std::uint64_t shift) const {
  auto* bytes = static_cast<std::byte*>(buffer);
  for_each_run(count, shift, [&](std::uint64_t offset, std::uint64_t place, std::uint64_t elements) {
    std::memcpy(bytes + offset * element_bytes_, contribution_.data() + place * element_bytes_,
                elements * element_bytes_);
  });
}

std::uint64_t Pattern::count_wrong(const void* buffer, std::uint64_t count, std::uint64_t shift) const {
  const auto* bytes = static_cast<const std::byte*>(buffer);
  std::uint64_t wrong = 0;
  for_each_run(count, shift, [&](std::uint64_t offset, std::uint64_t place, std::uint64_t elements) {
    const std::byte* given = bytes + offset * element_bytes_;
    const std::byte* right = result_.data() + place * element_bytes_;
    if (std::memcmp(given, right, elements * element_bytes_) == 0) return;
    for (std::uint64_t i = 0; i < elements; ++i) {
      if (std::memcmp(given + i * element_bytes_, right + i * element_bytes_, element_bytes_) != 0) ++wrong;
    }
  });
  return wrong;
}

}  // namespace hps::perf
