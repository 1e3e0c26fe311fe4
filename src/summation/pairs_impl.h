// SPDX-License-Identifier: BSD-3-Clause
// MINLOC and MAXLOC of the pair types that fit vectors. Part of kernels_impl.h.
//
// Pairs of two integers in 8 bytes become keys: integers whose order is the order of the pairs, first by value, then by
// index. A key of other pairs takes many instructions, for floats have two zeros and values that are no number, and 16
// bytes are no lane. These are gone through twice, which does not need keys: for the best value, then for the lowest
// index that comes with it. That leaves the tree aside, whose shape no such result depends on.
#ifndef HPS_SRC_SUMMATION_PAIRS_IMPL_H
#define HPS_SRC_SUMMATION_PAIRS_IMPL_H

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "summation/arithmetic_impl.h"
#include "summation/numbers_impl.h"
#include "summation/vectors_impl.h"

namespace hps {

namespace {

static_assert(std::endian::native == std::endian::little, "a pair's value is the lower lane");

// Integers in 8 bytes: the value in the lowest bits, then perhaps a gap, the index in the upper half. A key is the same
// bits rotated, which puts the value on top and the index below it; what the gap holds is too low to count.
template <class Value, Extreme extreme>
struct KeyLocation {
  static_assert(sizeof(ValueIndex<Value>) == 8);
  using Lane = std::int64_t;

  HPS_INLINE static void take(Vector<Lane>& pair) {
    rotate<64 - value_bits>(pair);
    pair = pair ^ flipped;
  }
  HPS_INLINE static void combine(Vector<Lane>& left, const Vector<Lane>& right) { left = left < right ? left : right; }
  HPS_INLINE static void finish(Vector<Lane>& pair) {
    pair = pair ^ flipped;
    rotate<value_bits>(pair);
    if constexpr (value_bits < 32) pair = pair & ~gap;
  }

 private:
  static constexpr int value_bits = 8 * sizeof(Value);
  static constexpr Lane index_sign = Lane{1} << (63 - value_bits);  // the lower part of a key has no sign of its own
  static constexpr Lane value_mask = -1 - (index_sign * 2 - 1);
  static constexpr Lane flipped = index_sign ^ (extreme == Extreme::maximum ? value_mask : 0);
  static constexpr Lane gap = 0xffffffff - ((Lane{1} << value_bits) - 1);

  template <int left>
  HPS_INLINE static void rotate(Vector<Lane>& pair) {
    const auto bits = reinterpret_cast<Vector<std::uint64_t>>(pair);
    pair = reinterpret_cast<Vector<Lane>>(bits << left | bits >> (64 - left));
  }
};

// values[0] = the combination of all `count`, as a tree: a chain would wait for each result.
template <class Work, std::uint32_t count, class Lane>
HPS_INLINE void combine_all(Vector<Lane>* values) {
  if constexpr (count > 1) {
    constexpr std::uint32_t half = count / 2;
    combine_all<Work, half, Lane>(values);
    combine_all<Work, count - half, Lane>(values + half);
    Work::combine(values[0], values[half]);
  }
}

// Pairs of two lanes: the value in the first, the index in the lowest 4 bytes of the second.
template <class Value, Extreme extreme>
struct ValueLocation {
  using Lane = std::conditional_t<sizeof(Value) == 8, std::int64_t, std::int32_t>;
  using Number = std::conditional_t<std::is_floating_point_v<Value>, Value, Lane>;
  using Index = std::int32_t;
  static_assert(sizeof(ValueIndex<Value>) == 2 * sizeof(Lane));

  // The pairs at byte `at` of the inputs.
  template <std::uint32_t operands>
  HPS_INLINE static void evaluate(const std::byte* const* input, std::size_t at, Vector<std::int64_t>& result) {
    evaluate(input, at, result, std::make_integer_sequence<std::uint32_t, operands>());
  }

 private:
  static constexpr bool is_float = std::is_floating_point_v<Value>;
  static constexpr auto greatest_index = static_cast<Lane>(0x7fffffff7fffffff);
  static constexpr auto lanes = std::make_integer_sequence<int, vector_bytes / sizeof(Lane)>();

  struct Better {
    HPS_INLINE static void combine(Vector<Number>& left, const Vector<Number>& right) {
      if constexpr (extreme == Extreme::minimum) {
        left = right < left ? right : left;
      } else {
        left = right > left ? right : left;
      }
    }
  };

  template <std::uint32_t first, std::uint32_t... i>
  HPS_INLINE static void evaluate(const std::byte* const* input, std::size_t at, Vector<std::int64_t>& result,
                                  std::integer_sequence<std::uint32_t, first, i...> all) {
    Vector<Number> values[all.size()];
    load_even_twice<Number>(input[first] + at, values[first]);
    (load_even_twice<Number>(input[i] + at, values[i]), ...);
    if constexpr (is_float) {
      NumberLanes<Number> numbers;
      look_at_all<Number>(values, numbers, all);
      if (!numbers.are_all()) [[unlikely]] {
        Vector<std::int64_t> there;  // what a call is given the address of lies in memory
        evaluate_nan(input, at, all.size(), there);
        result = there;
        return;
      }
    }
    Vector<Number> bests[] = {values[first], values[i]...};
    combine_all<Better, all.size(), Number>(bests);
    const Vector<Number>& best = bests[0];
    Vector<Lane> index = Vector<Lane>{} + greatest_index;
    keep_lower_index(values[first] == best, input[first] + at, index);
    (keep_lower_index(values[i] == best, input[i] + at, index), ...);
    join(best, index, result, lanes);
  }

  // The lowest index that comes with the best value.
  HPS_INLINE static void keep_lower_index(const Vector<Lane>& is_best, const std::byte* from, Vector<Lane>& index) {
    Vector<Index> pairs;
    std::memcpy(&pairs, from, sizeof pairs);
    const auto least = reinterpret_cast<Vector<Index>>(index);
    const Vector<Index> lower = pairs < least ? pairs : least;
    index = is_best ? reinterpret_cast<Vector<Lane>>(lower) : index;
  }

  template <int... i>
  HPS_INLINE static void join(const Vector<Number>& best, const Vector<Lane>& index, Vector<std::int64_t>& result,
                              std::integer_sequence<int, i...>) {
    constexpr auto index_bits = static_cast<Lane>(0xffffffff);
    const Vector<Lane> in_values = {(i % 2 == 0 ? Lane{-1} : Lane{0})...};
    const Vector<Lane> in_indices = {(i % 2 == 0 ? Lane{0} : index_bits)...};
    Vector<Number> value = best;
    if constexpr (is_float) value = value + 0;  // -0 becomes +0
    result = reinterpret_cast<Vector<std::int64_t>>((reinterpret_cast<Vector<Lane>>(value) & in_values) |
                                                    (index & in_indices));
  }

  // As evaluate(), where some values are not numbers: they are the best then.
  HPS_KERNEL_TARGET [[gnu::noinline]] static void evaluate_nan(const std::byte* const* input, std::size_t at,
                                                               std::size_t operands, Vector<std::int64_t>& result) {
    Vector<Number> best, value;
    load_even_twice<Number>(input[0] + at, best);
    for (std::size_t i = 1; i < operands; ++i) {
      load_even_twice<Number>(input[i] + at, value);
      Better::combine(best, value);
    }
    for (std::size_t i = 0; i < operands; ++i) {
      load_even_twice<Number>(input[i] + at, value);
      best = value == value ? best : Vector<Number>{} + std::numeric_limits<Number>::quiet_NaN();
    }
    Vector<Lane> index = Vector<Lane>{} + greatest_index;
    for (std::size_t i = 0; i < operands; ++i) {
      load_even_twice<Number>(input[i] + at, value);
      keep_lower_index((value == best) | (value != value), input[i] + at, index);
    }
    join(best, index, result, lanes);
  }
};

}  // namespace

}  // namespace hps

#endif
