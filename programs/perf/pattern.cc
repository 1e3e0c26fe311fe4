// SPDX-License-Identifier: BSD-3-Clause
#include "perf/pattern.h"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

#include "summation/tree.h"
#include "util/random.h"

namespace hps::perf {
namespace {

// Whole numbers from -most to most; for products 1, 2 and 3 from the first eight ranks and ones from the others (3^8 is
// well within the 24 bits of a float), with either sign, of 16-bit floats just ones. As an unsigned type they wrap
// around.
std::int64_t whole_number(Op op, std::uint64_t random, std::uint32_t rank, std::int64_t most) {
  if (op != Op::prod) return static_cast<std::int64_t>(random % static_cast<std::uint64_t>(2 * most + 1)) - most;
  const std::int64_t magnitude = rank < 8 && most > 1 ? 1 + static_cast<std::int64_t>(random % 3) : 1;
  return (random >> 32) % 2 == 0 ? magnitude : -magnitude;
}

// Bits and truth values. The result is that of one rank alone about every other time: the others contribute what
// changes nothing.
std::uint64_t some_bits(Op op, std::uint64_t random, std::uint32_t ranks) {
  const std::uint64_t bits = mix_bits(random) | 1;
  const bool is_decisive = random % ranks == 0;
  switch (op) {
    case Op::land:
      return is_decisive && bits % 4 < 2 ? 0 : bits;
    case Op::lor:
      return is_decisive && bits % 4 < 2 ? bits : 0;
    case Op::lxor:
      return bits % 4 < 2 ? bits : 0;
    case Op::band:
      return is_decisive ? bits : ~std::uint64_t{0};
    case Op::bor:
      return is_decisive ? bits : 0;
    default:
      return bits;
  }
}

bool is_bitwise(Op op) { return op == Op::band || op == Op::bor || op == Op::bxor; }

// What an element is while it is combined. 16-bit floats are floats until they are stored, booleans are bytes.
template <class T>
struct WorkOf {
  using Type = T;
};
template <>
struct WorkOf<Float16> {
  using Type = float;
};
template <>
struct WorkOf<Bfloat16> {
  using Type = float;
};
template <>
struct WorkOf<bool> {
  using Type = std::uint8_t;
};
template <>
struct WorkOf<std::byte> {
  using Type = std::uint8_t;
};
template <class T>
using Work = typename WorkOf<T>::Type;

struct Contributor {
  Op op;
  std::uint32_t ranks;
  std::uint32_t rank;
};

template <class T>
struct Elements;  // of a type: contribution() and combine(), both of Work<T>

template <class T>
requires(std::is_arithmetic_v<Work<T>>) struct Elements<T> {
  static constexpr std::int64_t most = 50;
  static constexpr bool is_half = sizeof(T) < sizeof(Work<T>);

  static Work<T> contribution(const Contributor& from, std::uint64_t random) {
    if (is_logical(from.op)) return static_cast<Work<T>>(some_bits(from.op, random, from.ranks) != 0);
    const bool is_order = from.op == Op::min || from.op == Op::max;
    if (is_bitwise(from.op)) return static_cast<Work<T>>(some_bits(from.op, random, from.ranks));
    return static_cast<Work<T>>(whole_number(from.op, random, from.rank, is_half && !is_order ? 1 : most));
  }

  static Work<T> combine(Op op, Work<T> left, Work<T> right) {
    if (op == Op::sum) return static_cast<Work<T>>(widen(left) + widen(right));
    if (op == Op::prod) return static_cast<Work<T>>(widen(left) * widen(right));
    if (op == Op::min) return std::min(left, right);
    if (op == Op::max) return std::max(left, right);
    if constexpr (std::is_integral_v<Work<T>>) return combine_bits(op, widen(left), widen(right));
    return left;
  }

 private:
  // Integers are combined as unsigned 64-bit numbers and cut to their width afterwards: sums and products modulo 2^64
  // are also right modulo 2^8 to 2^32, and nothing overflows on the way.
  static auto widen(Work<T> value) {
    if constexpr (std::is_floating_point_v<Work<T>>) {
      return value;
    } else {
      return static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<Work<T>>>(value));
    }
  }
  static Work<T> combine_bits(Op op, std::uint64_t left, std::uint64_t right) {
    if (op == Op::land) return static_cast<Work<T>>(left != 0 && right != 0);
    if (op == Op::lor) return static_cast<Work<T>>(left != 0 || right != 0);
    if (op == Op::lxor) return static_cast<Work<T>>((left != 0) != (right != 0));
    if (op == Op::band) return static_cast<Work<T>>(left & right);
    if (op == Op::bor) return static_cast<Work<T>>(left | right);
    return static_cast<Work<T>>(left ^ right);
  }
};

// In products just the first rank has an imaginary part, and the others are positive: the sign of a zero would depend
// on the order.
template <class Float>
struct Elements<std::complex<Float>> {
  using Complex = std::complex<Float>;
  static Complex contribution(const Contributor& from, std::uint64_t random) {
    const auto real = static_cast<Float>(whole_number(from.op, random, from.rank, 50));
    const auto imaginary = static_cast<Float>(whole_number(from.op, mix_bits(random), from.rank, 50));
    if (from.op == Op::prod && from.rank > 0) return {real < 0 ? -real : real, 0};
    return {real, imaginary};
  }
  static Complex combine(Op op, const Complex& left, const Complex& right) {
    if (op == Op::sum) return left + right;
    return {left.real() * right.real() - left.imag() * right.imag(),
            left.real() * right.imag() + left.imag() * right.real()};
  }
};

template <class Value>
struct Elements<ValueIndex<Value>> {
  using Pair = ValueIndex<Value>;
  static Pair contribution(const Contributor& from, std::uint64_t random) {
    return {static_cast<Value>(whole_number(from.op, random, from.rank, 50)), static_cast<int>(from.rank)};
  }
  static Pair combine(Op op, const Pair& left, const Pair& right) {
    if (left.value == right.value) return left.index < right.index ? left : right;
    return (left.value < right.value) == (op == Op::minloc) ? left : right;
  }
};

// Writes elements as results are: with zeros in the gaps.
template <class Number>
void put(Number value, std::byte* to) {
  std::memset(to, 0, sizeof value);
  const bool x87 = std::is_same_v<Number, long double> && std::numeric_limits<Number>::digits == 64;
  std::memcpy(to, &value, x87 ? 10 : sizeof value);
}
template <class Float>
void put(const std::complex<Float>& value, std::byte* to) {
  put(value.real(), to);
  put(value.imag(), to + sizeof(Float));
}
template <class Value>
void put(const ValueIndex<Value>& value, std::byte* to) {
  std::memset(to, 0, sizeof value);
  put(value.value, to);
  std::memcpy(to + offsetof(ValueIndex<Value>, index), &value.index, sizeof value.index);
}

template <class T>
void write_period(Datatype type, const Contributor& own, std::byte* contribution, std::byte* result) {
  for (std::uint64_t index = 0; index < Pattern::period; ++index) {
    const auto of_rank = [&](std::uint32_t rank) {
      return Elements<T>::contribution({own.op, own.ranks, rank}, mix_bits(rank * Pattern::period + index));
    };
    Work<T> all = of_rank(0);
    for (std::uint32_t rank = 1; rank < own.ranks; ++rank) all = Elements<T>::combine(own.op, all, of_rank(rank));
    const Work<T> mine = of_rank(own.rank);
    if constexpr (sizeof(T) < sizeof(Work<T>)) {
      from_partial(type, &mine, contribution + index * sizeof(T), 1);
      from_partial(type, &all, result + index * sizeof(T), 1);
    } else {
      put(mine, contribution + index * sizeof(T));
      put(all, result + index * sizeof(T));
    }
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
#define HPS_DATATYPE(name, ctype, kind)                                                     \
  case Datatype::name:                                                                      \
    write_period<ctype>(datatype, {op, ranks, rank}, contribution_.data(), result_.data()); \
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
