// SPDX-License-Identifier: BSD-3-Clause
// Kernels of long double, which no vector holds: an element at a time, with the arithmetic that the compiler has for it
// (x86-64: the x87's, 64 bits of mantissa in 16 bytes). One file for all instruction sets.
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "summation/canonical.h"
#include "summation/kernels.h"

namespace hps {

namespace {

using Float = long double;
using Complex = std::complex<Float>;
using Pair = ValueIndex<Float>;
using Limits = std::numeric_limits<Float>;

// The x87's format leaves the upper bytes of a long double unused.
constexpr std::size_t used_bytes = Limits::digits == 64 ? 10 : sizeof(Float);

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void store(Float value, std::byte* to) {
  if (std::isnan(value)) value = Limits::quiet_NaN();
  std::memset(to, 0, sizeof value);
  std::memcpy(to, &value, used_bytes);
}
void store(const Complex& value, std::byte* to) {
  store(value.real(), to);
  store(value.imag(), to + sizeof(Float));
}
void store(const Pair& value, std::byte* to) {
  std::memset(to, 0, sizeof value);
  store(value.value == 0 ? Float{0} : value.value, to);
  std::memcpy(to + offsetof(Pair, index), &value.index, sizeof value.index);
}

struct Sum {
  static Float combine(Float left, Float right) { return left + right; }
};

struct Product {
  static Float combine(Float left, Float right) { return left * right; }
  static Complex combine(const Complex& left, const Complex& right) {
    return {left.real() * right.real() - left.imag() * right.imag(),
            left.real() * right.imag() + left.imag() * right.real()};
  }
};

// A value that is not a number comes first, then -0 before +0.
struct Minimum {
  static Float combine(Float left, Float right) {
    if (std::isnan(left) || std::isnan(right)) return Limits::quiet_NaN();
    if (left == right) return std::signbit(left) ? left : right;
    return left < right ? left : right;
  }
};

struct Maximum {
  static Float combine(Float left, Float right) { return -Minimum::combine(-left, -right); }
};

struct MinimumLocation {
  static Pair combine(const Pair& left, const Pair& right) {
    const bool left_nan = std::isnan(left.value);
    const bool right_nan = std::isnan(right.value);
    if (left_nan != right_nan) return left_nan ? left : right;
    if (left_nan || left.value == right.value) return left.index <= right.index ? left : right;
    return left.value < right.value ? left : right;
  }
};

struct MaximumLocation {
  static Pair combine(const Pair& left, const Pair& right) {
    const Pair found = MinimumLocation::combine({-left.value, left.index}, {-right.value, right.index});
    return {-found.value, found.index};
  }
};

template <class T, class Work, std::uint32_t operands>
T combine_tree(const std::byte* const* inputs, std::size_t at) {
  if constexpr (operands == 1) {
    return load<T>(inputs[0] + at);
  } else {
    constexpr std::uint32_t left = canonical_left(operands);
    const T one = combine_tree<T, Work, left>(inputs, at);
    return Work::combine(one, combine_tree<T, Work, operands - left>(inputs + left, at));
  }
}

template <class T, class Work, std::uint32_t operands>
void reduce(const std::byte* const* inputs, std::byte* output, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += sizeof(T)) store(combine_tree<T, Work, operands>(inputs, at), output + at);
}

template <class T, class Work, std::uint32_t... i>
consteval KernelRow make_row(std::integer_sequence<std::uint32_t, i...>) {
  return {{&reduce<T, Work, i + 2>...}, nullptr};
}

template <class T, class Work>
consteval KernelRow make_row() {
  return make_row<T, Work>(std::make_integer_sequence<std::uint32_t, max_operands - 1>());
}

struct RowOfOp {
  Op op;
  KernelRow row;
};

template <std::size_t count>
consteval KernelRows make_rows(const RowOfOp (&given)[count]) {
  KernelRows rows = {};
  for (const RowOfOp& one : given) rows.ops[static_cast<std::size_t>(one.op)] = one.row;
  return rows;
}

}  // namespace

constinit const KernelRows long_double_rows = make_rows({{Op::sum, make_row<Float, Sum>()},
                                                         {Op::prod, make_row<Float, Product>()},
                                                         {Op::min, make_row<Float, Minimum>()},
                                                         {Op::max, make_row<Float, Maximum>()}});
// A sum of complex numbers is one of twice as many parts.
constinit const KernelRows complex_long_double_rows =
    make_rows({{Op::sum, make_row<Float, Sum>()}, {Op::prod, make_row<Complex, Product>()}});
constinit const KernelRows long_double_int_rows =
    make_rows({{Op::minloc, make_row<Pair, MinimumLocation>()}, {Op::maxloc, make_row<Pair, MaximumLocation>()}});

}  // namespace hps
