// SPDX-License-Identifier: BSD-3-Clause
// What an operation does to vectors of numbers: take() an operand, combine() two, finish() the result. Part of
// kernels_impl.h.
#ifndef HPS_SRC_SUMMATION_ARITHMETIC_IMPL_H
#define HPS_SRC_SUMMATION_ARITHMETIC_IMPL_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "summation/numbers_impl.h"
#include "summation/vectors_impl.h"

namespace hps {

namespace {

enum class Extreme : std::uint8_t { minimum, maximum };

// A NaN becomes the canonical one, other values stay. AVX-512 has an instruction for that: its table says for each
// class of floats what to do, the two kinds of NaN first: 0, take what is there; 1, take the operand.
template <class Lane>
HPS_INLINE void canonicalise(Vector<Lane>& value) {
  if constexpr (std::is_floating_point_v<Lane>) {
    const Vector<Lane> quiet_nan = Vector<Lane>{} + std::numeric_limits<Lane>::quiet_NaN();
#if HPS_KERNEL_VECTOR_BYTES == 64
    const auto table = reinterpret_cast<__m512i>(
        Vector<std::conditional_t<sizeof(Lane) == 4, std::int32_t, std::int64_t>>{} + 0x11111100);
    if constexpr (sizeof(Lane) == 4) {
      value = reinterpret_cast<Vector<Lane>>(
          _mm512_fixupimm_ps(reinterpret_cast<__m512>(quiet_nan), reinterpret_cast<__m512>(value), table, 0));
    } else {
      value = reinterpret_cast<Vector<Lane>>(
          _mm512_fixupimm_pd(reinterpret_cast<__m512d>(quiet_nan), reinterpret_cast<__m512d>(value), table, 0));
    }
#else
    value = value == value ? value : quiet_nan;
#endif
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

// Products of 8-bit numbers, which no instruction multiplies, two in a lane of 16 bits.
template <>
struct Product<std::uint8_t> : Identity<std::uint8_t> {
  HPS_INLINE static void combine(Vector<std::uint8_t>& left, const Vector<std::uint8_t>& right) {
    const auto a = reinterpret_cast<Vector<std::uint16_t>>(left);
    const auto b = reinterpret_cast<Vector<std::uint16_t>>(right);
    left = reinterpret_cast<Vector<std::uint8_t>>((a * b & 0x00ff) | (a >> 8) * (b & 0xff00));
  }
};

#if HPS_KERNEL_VECTOR_BYTES == 64
// AVX-512 has an instruction that knows -0 to be less than +0, but prefers a number to a NaN. The shape of the tree
// does not matter to such results; in this one operands come in twos, which are looked at with one instruction.
template <class Lane, Extreme extreme>
struct FloatExtreme {
  template <std::uint32_t operands>
  HPS_INLINE static void evaluate(const std::byte* const* input, std::size_t at, Vector<Lane>& result) {
    NumberLanes<Lane> numbers;
    find<operands>(input, at, result, numbers);
    numbers.canonicalise(result);
  }

 private:
  template <std::uint32_t operands>
  HPS_INLINE static void find(const std::byte* const* input, std::size_t at, Vector<Lane>& result,
                              NumberLanes<Lane>& numbers) {
    constexpr std::uint32_t left = operands <= 2 ? 1 : (operands + 2) / 4 * 2;
    Vector<Lane> right;
    if constexpr (operands <= 2) {
      Memory<Lane>::load(input[0] + at, result);
      Memory<Lane>::load(input[operands - 1] + at, right);
      numbers.look_at(result, right);
    } else {
      find<left>(input, at, result, numbers);
      find<operands - left>(input + left, at, right, numbers);
    }
    if constexpr (operands > 1) combine(result, right);
  }

  HPS_INLINE static void combine(Vector<Lane>& left, const Vector<Lane>& right) {
    constexpr int sign_of_the_result = 4;
    constexpr int which = sign_of_the_result + (extreme == Extreme::maximum ? 1 : 0);
    if constexpr (sizeof(Lane) == 4) {
      constexpr __mmask16 all = 0xffff;  // as in Packed<Float16>
      left = reinterpret_cast<Vector<Lane>>(
          _mm512_maskz_range_ps(all, reinterpret_cast<__m512>(left), reinterpret_cast<__m512>(right), which));
    } else {
      constexpr __mmask8 all = 0xff;
      left = reinterpret_cast<Vector<Lane>>(
          _mm512_maskz_range_pd(all, reinterpret_cast<__m512d>(left), reinterpret_cast<__m512d>(right), which));
    }
  }
};
#endif

// MIN and MAX of floats by integers, where that is faster: of 16-bit floats, which then need no conversion, and MAX of
// float without AVX-512. Flipping the other bits of a negative number makes integers of the same order, -0 before +0,
// with NaNs at both ends; an addition that wraps around moves them all to the end that wins.
template <class Float>
struct Order;  // of a float's bits: those of infinity and of the canonical NaN
template <>
struct Order<Float16> {
  using Lane = std::int16_t;
  static constexpr Lane infinity = 0x7c00;
  static constexpr Lane quiet_nan = 0x7e00;
};
template <>
struct Order<Bfloat16> {
  using Lane = std::int16_t;
  static constexpr Lane infinity = 0x7f80;
  static constexpr Lane quiet_nan = 0x7fc0;
};
template <class Float>
requires(std::is_floating_point_v<Float>) struct Order<Float> {
  using Lane = std::conditional_t<sizeof(Float) == 4, std::int32_t, std::int64_t>;
  static constexpr Lane infinity = std::bit_cast<Lane>(std::numeric_limits<Float>::infinity());
  static constexpr Lane quiet_nan = std::bit_cast<Lane>(std::numeric_limits<Float>::quiet_NaN());
};

template <class Float, template <class> class Work>
struct ByOrder {
  using Lane = typename Order<Float>::Lane;
  HPS_INLINE static void take(Vector<Lane>& value) {
    flip_negative(value);
    value = reinterpret_cast<Vector<Lane>>(reinterpret_cast<Vector<Bits>>(value) + to_the_end);
  }
  HPS_INLINE static void combine(Vector<Lane>& left, const Vector<Lane>& right) { Work<Lane>::combine(left, right); }
  HPS_INLINE static void finish(Vector<Lane>& value) {
    const Vector<Lane> quiet_nan = Vector<Lane>{} + Order<Float>::quiet_nan;
    const Vector<Lane> is_nan = is_minimum ? value < first_number : value > last_number;
    value = reinterpret_cast<Vector<Lane>>(reinterpret_cast<Vector<Bits>>(value) - to_the_end);
    flip_negative(value);
    value = (value & ~is_nan) | (quiet_nan & is_nan);
  }

 private:
  using Bits = std::make_unsigned_t<Lane>;
  static constexpr bool is_minimum = std::is_same_v<Work<Lane>, Minimum<Lane>>;
  static constexpr Lane greatest = std::numeric_limits<Lane>::max();
  static constexpr Lane distance = greatest - Order<Float>::infinity;  // of an infinity from its end
  static constexpr auto to_the_end = static_cast<Bits>(is_minimum ? distance : -distance);
  // Of the infinity that is far from that end; the NaNs that came round lie beyond.
  static constexpr Lane last_number = Order<Float>::infinity - distance;
  static constexpr Lane first_number = -last_number - 1;

  HPS_INLINE static void flip_negative(Vector<Lane>& value) {
    value = value ^ (value >> std::numeric_limits<Lane>::digits & greatest);
  }
};

// The same arithmetic on two vectors.
template <class Work, class Lane>
struct Planewise {
  HPS_INLINE static void take(Planes<Lane>& value) {
    Work::take(value.lower);
    Work::take(value.upper);
  }
  HPS_INLINE static void combine(Planes<Lane>& left, const Planes<Lane>& right) {
    Work::combine(left.lower, right.lower);
    Work::combine(left.upper, right.upper);
  }
  HPS_INLINE static void finish(Planes<Lane>& value) {
    Work::finish(value.lower);
    Work::finish(value.upper);
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

// Real and imaginary parts in planes: (a + bi)(c + di) = (ac - bd) + (ad + bc)i.
template <class Lane>
struct ComplexProduct : Planewise<Identity<Lane>, Lane> {
  HPS_INLINE static void combine(Planes<Lane>& left, const Planes<Lane>& right) {
    const Vector<Lane> real = left.lower * right.lower - left.upper * right.upper;
    left.upper = left.lower * right.upper + left.upper * right.lower;
    left.lower = real;
  }
};

}  // namespace

}  // namespace hps

#endif
