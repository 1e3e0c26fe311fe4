// SPDX-License-Identifier: BSD-3-Clause
// MINLOC and MAXLOC of the pair types that fit vectors. Part of kernels_impl.h.
//
// take() makes keys of a value and its index: integers with a sign, whose order is the order of the pairs, first by
// value, then by index; the least is what is looked for. finish() turns a key back into a pair. For a float, flipping
// the other bits of a negative number gives that order; for MAXLOC all bits of the value are flipped; a value that is
// not a number gets the least key, which no number has.
#ifndef HPS_SRC_SUMMATION_PAIRS_IMPL_H
#define HPS_SRC_SUMMATION_PAIRS_IMPL_H

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "summation/vectors_impl.h"

namespace hps {

namespace {

static_assert(std::endian::native == std::endian::little, "a pair's value is the lower lane");

enum class Extreme : std::uint8_t { minimum, maximum };

// Lanes as wide as the value and as many bits for its index: 32 bits each, or 64.
template <class Lane>
using PairLane = std::conditional_t<sizeof(Lane) == 8, std::int64_t, std::int32_t>;

// `value` in the lanes of values, 0 in the lanes of indices; or the other way round.
template <class Lane, int... i>
HPS_INLINE void in_even_lanes(Lane value, Vector<Lane>& vector, std::integer_sequence<int, i...>) {
  vector = Vector<Lane>{(i % 2 == 0 ? value : Lane{0})...};
}
template <class Lane>
HPS_INLINE void in_even_lanes(Lane value, Vector<Lane>& vector) {
  in_even_lanes<Lane>(value, vector, std::make_integer_sequence<int, vector_bytes / sizeof(Lane)>());
}

// The values' lanes of a vector, to keys and back. Value: short, int, long, float or double.
template <class Value, Extreme extreme>
struct ValueKeys {
  using Lane = PairLane<Value>;
  static constexpr Lane least = std::numeric_limits<Lane>::min();
  static constexpr bool is_float = std::is_floating_point_v<Value>;
  using Float = std::conditional_t<is_float, Value, float>;  // just for floats

  HPS_INLINE static void take(Vector<Lane>& lanes) {
    Vector<Lane> values;
    in_even_lanes<Lane>(-1, values);
    if constexpr (is_float) {
      const auto number = reinterpret_cast<Vector<Float>>(lanes);
      const Vector<Lane> not_a_number = (number != number) & values;
      lanes = lanes & ~((number == 0) & values);  // -0
      flip_negative(lanes);
      if constexpr (extreme == Extreme::maximum) lanes = lanes ^ values;
      Vector<Lane> least_values;
      in_even_lanes<Lane>(least, least_values);
      lanes = (lanes & ~not_a_number) | (least_values & not_a_number);
    } else {
      if constexpr (sizeof(Value) < sizeof(Lane)) extend_sign(lanes, values);
      if constexpr (extreme == Extreme::maximum) lanes = lanes ^ values;
    }
  }

  HPS_INLINE static void finish(Vector<Lane>& lanes) {
    Vector<Lane> values;
    in_even_lanes<Lane>(-1, values);
    if constexpr (is_float) {
      const Vector<Lane> not_a_number = (lanes == least) & values;
      if constexpr (extreme == Extreme::maximum) lanes = lanes ^ values;
      flip_negative(lanes);
      Vector<Lane> quiet_nans;
      in_even_lanes<Lane>(std::bit_cast<Lane>(std::numeric_limits<Float>::quiet_NaN()), quiet_nans);
      lanes = (lanes & ~not_a_number) | (quiet_nans & not_a_number);
    } else {
      if constexpr (extreme == Extreme::maximum) lanes = lanes ^ values;
      if constexpr (sizeof(Value) < sizeof(Lane)) clear_gap(lanes, values);
    }
  }

 private:
  HPS_INLINE static void flip_negative(Vector<Lane>& lanes) {
    Vector<Lane> other_bits;
    in_even_lanes<Lane>(std::numeric_limits<Lane>::max(), other_bits);
    lanes = lanes ^ ((lanes < 0) & other_bits);
  }
  static constexpr int gap_bits = 8 * static_cast<int>(sizeof(Lane) - sizeof(Value));
  HPS_INLINE static void extend_sign(Vector<Lane>& lanes, const Vector<Lane>& values) {
    lanes = (lanes & ~values) | ((lanes << gap_bits >> gap_bits) & values);
  }
  HPS_INLINE static void clear_gap(Vector<Lane>& lanes, const Vector<Lane>& values) {
    Vector<Lane> gaps;
    in_even_lanes<Lane>(static_cast<Lane>(~Lane{0} << (8 * sizeof(Value))), gaps);
    lanes = lanes & ~(gaps & values);
  }
};

// Pairs of 8 bytes: the key is one integer, the value above the index.
template <class Value, Extreme extreme, std::size_t bytes>
struct Location {
  static_assert(bytes == 8);
  using Lane = std::int64_t;
  using Half = std::int32_t;

  HPS_INLINE static void take(Vector<Lane>& pair) {
    auto lanes = reinterpret_cast<Vector<Half>>(pair);
    ValueKeys<Value, extreme>::take(lanes);
    pair = reinterpret_cast<Vector<Lane>>(lanes);
    exchange_halves(pair);
    pair = pair ^ index_sign;
  }
  HPS_INLINE static void combine(Vector<Lane>& left, const Vector<Lane>& right) { left = left < right ? left : right; }
  HPS_INLINE static void finish(Vector<Lane>& pair) {
    pair = pair ^ index_sign;
    exchange_halves(pair);
    auto lanes = reinterpret_cast<Vector<Half>>(pair);
    ValueKeys<Value, extreme>::finish(lanes);
    pair = reinterpret_cast<Vector<Lane>>(lanes);
  }

 private:
  static constexpr Lane index_sign = Lane{1} << 31;  // the lower half of a key has no sign of its own
  HPS_INLINE static void exchange_halves(Vector<Lane>& pair) {
    const auto bits = reinterpret_cast<Vector<std::uint64_t>>(pair);
    pair = reinterpret_cast<Vector<Lane>>(bits << 32 | bits >> 32);
  }
};

// Pairs of 16 bytes: two lanes of key, the index in the upper half of its lane, so that its gap does not count.
template <class Value, Extreme extreme>
struct Location<Value, extreme, 16> {
  using Lane = std::int64_t;

  HPS_INLINE static void take(Vector<Lane>& pair) {
    ValueKeys<Value, extreme>::take(pair);
    Vector<Lane> values;
    in_even_lanes<Lane>(-1, values);
    pair = (pair & values) | (pair << 32 & ~values);
  }
  HPS_INLINE static void combine(Vector<Lane>& left, const Vector<Lane>& right) {
    combine(left, right, std::make_integer_sequence<int, vector_bytes / sizeof(Lane)>());
  }
  HPS_INLINE static void finish(Vector<Lane>& pair) {
    Vector<Lane> values;
    in_even_lanes<Lane>(-1, values);
    const auto bits = reinterpret_cast<Vector<std::uint64_t>>(pair);
    pair = (pair & values) | (reinterpret_cast<Vector<Lane>>(bits >> 32) & ~values);
    ValueKeys<Value, extreme>::finish(pair);
  }

 private:
  template <int... i>
  HPS_INLINE static void combine(Vector<Lane>& left, const Vector<Lane>& right, std::integer_sequence<int, i...>) {
    const Vector<Lane> less = right < left;
    const Vector<Lane> equal = right == left;
    const Vector<Lane> value_less = __builtin_shufflevector(less, less, (i & ~1)...);
    const Vector<Lane> value_equal = __builtin_shufflevector(equal, equal, (i & ~1)...);
    const Vector<Lane> index_less = __builtin_shufflevector(less, less, (i | 1)...);
    const Vector<Lane> take_right = value_less | (value_equal & index_less);
    left = (left & ~take_right) | (right & take_right);
  }
};

}  // namespace

}  // namespace hps

#endif
