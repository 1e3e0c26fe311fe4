// SPDX-License-Identifier: BSD-3-Clause
// What an operation does to vectors of numbers: take() an operand, combine() two, finish() the result. Part of
// kernels_impl.h.
#ifndef HPS_SRC_SUMMATION_ARITHMETIC_IMPL_H
#define HPS_SRC_SUMMATION_ARITHMETIC_IMPL_H

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "summation/vectors_impl.h"

namespace hps {

namespace {

template <class Lane>
HPS_INLINE void canonicalise(Vector<Lane>& value) {
  if constexpr (std::is_floating_point_v<Lane>) {
    const Vector<Lane> quiet_nan = Vector<Lane>{} + std::numeric_limits<Lane>::quiet_NaN();
    value = value == value ? value : quiet_nan;
  }
}

// The lesser of two floats. `a < b ? a : b` is b when the two are equal or unordered, so the two selections differ just
// for zeros of different sign, where OR gives -0, and for a NaN with a number, where OR keeps the NaN a NaN.
template <class Lane>
HPS_INLINE void float_min(Vector<Lane>& left, const Vector<Lane>& right) {
  using Bits = Vector<std::conditional_t<sizeof(Lane) == 4, std::int32_t, std::int64_t>>;
  static_assert(sizeof(Lane) == 4 || sizeof(Lane) == 8);
  const Vector<Lane> one = left < right ? left : right;
  const Vector<Lane> other = right < left ? right : left;
  left = reinterpret_cast<Vector<Lane>>(reinterpret_cast<Bits>(one) | reinterpret_cast<Bits>(other));
}

// Operands are taken as they are; a result that is no number becomes the canonical one.
template <class Lane>
struct Identity {
  HPS_INLINE static void take(Vector<Lane>&) {}
  HPS_INLINE static void finish(Vector<Lane>& value) { canonicalise<Lane>(value); }
};

template <class Lane>
struct Sum : Identity<Lane> {
  HPS_INLINE static void combine(Vector<Lane>& left, const Vector<Lane>& right) { left = left + right; }
};

template <class Lane>
struct Product : Identity<Lane> {
  HPS_INLINE static void combine(Vector<Lane>& left, const Vector<Lane>& right) { left = left * right; }
};

template <class Lane>
struct Minimum : Identity<Lane> {
  HPS_INLINE static void combine(Vector<Lane>& left, const Vector<Lane>& right) {
    if constexpr (std::is_floating_point_v<Lane>) {
      float_min<Lane>(left, right);
    } else {
      left = left < right ? left : right;
    }
  }
};

// MAX of floats is -MIN of the negated operands: AND in place of float_min's OR could turn a NaN into a number.
template <class Lane>
struct Maximum {
  HPS_INLINE static void take(Vector<Lane>& value) {
    if constexpr (std::is_floating_point_v<Lane>) value = -value;
  }
  HPS_INLINE static void combine(Vector<Lane>& left, const Vector<Lane>& right) {
    if constexpr (std::is_floating_point_v<Lane>) {
      float_min<Lane>(left, right);
    } else {
      left = left > right ? left : right;
    }
  }
  HPS_INLINE static void finish(Vector<Lane>& value) {
    take(value);
    canonicalise<Lane>(value);
  }
};

struct And {
  template <class Value>
  HPS_INLINE static void combine(Value& left, const Value& right) {
    left = left & right;
  }
};
struct Or {
  template <class Value>
  HPS_INLINE static void combine(Value& left, const Value& right) {
    left = left | right;
  }
};
struct ExclusiveOr {
  template <class Value>
  HPS_INLINE static void combine(Value& left, const Value& right) {
    left = left ^ right;
  }
};

template <class Connective, class Lane>
struct Bitwise : Identity<Lane>, Connective {};

// Anything but 0 is true; results are 0 and 1.
template <class Connective, class Lane>
struct Logical : Connective {
  HPS_INLINE static void take(Vector<Lane>& value) { value = reinterpret_cast<Vector<Lane>>(value != 0) & 1; }
  HPS_INLINE static void finish(Vector<Lane>&) {}
};

// Numbers of two lanes, the real part first: (a + bi)(c + di) = (ac - bd) + (ad + bc)i.
template <class Lane>
struct ComplexProduct : Identity<Lane> {
  HPS_INLINE static void combine(Vector<Lane>& left, const Vector<Lane>& right) {
    combine(left, right, std::make_integer_sequence<int, vector_bytes / sizeof(Lane)>());
  }

 private:
  template <int... i>
  HPS_INLINE static void combine(Vector<Lane>& left, const Vector<Lane>& right, std::integer_sequence<int, i...>) {
    const Vector<Lane> real = __builtin_shufflevector(left, left, (i & ~1)...);
    const Vector<Lane> imaginary = __builtin_shufflevector(left, left, (i | 1)...);
    const Vector<Lane> swapped = __builtin_shufflevector(right, right, (i ^ 1)...);
    const Vector<Lane> signs = {(i % 2 == 0 ? Lane{-1} : Lane{1})...};
    left = real * right + signs * (imaginary * swapped);  // the product with a sign is exact
  }
};

}  // namespace

}  // namespace hps

#endif
