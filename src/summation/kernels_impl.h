// SPDX-License-Identifier: BSD-3-Clause
// The kernels themselves, in the vector extension that GCC and Clang share: it needs no optimisation level to be
// vectorised, and one text serves every instruction set. Included once by each kernels_<isa>.cc, which defines
//   HPS_KERNEL_TABLE         the table to define
//   HPS_KERNEL_TARGET        the attribute that names the instruction set
//   HPS_KERNEL_VECTOR_BYTES  the size of its vectors
// Everything is in an anonymous namespace, because each includer compiles it differently. Vectors are passed by
// reference only: by value they would need one ABI for all instruction sets. Helpers carry no target attribute; they
// are always inlined and take the kernel's.
//
// Cost: `operands` reads and one write an element. Stores are plain: results are sent next, and should be in the cache.
#ifndef HPS_SRC_SUMMATION_KERNELS_IMPL_H
#define HPS_SRC_SUMMATION_KERNELS_IMPL_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "summation/canonical.h"
#include "summation/kernels.h"

#define HPS_INLINE [[gnu::always_inline]] inline

namespace hps {

namespace {

inline constexpr std::size_t vector_bytes = HPS_KERNEL_VECTOR_BYTES;

template <class Lane>
struct Vectors {
  typedef Lane Vector __attribute__((vector_size(vector_bytes)));
};
template <class Lane>
using Vector = typename Vectors<Lane>::Vector;

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

// What an operation does to vectors of T: take() an operand, combine() two, finish() the result.
template <Op op, class T>
struct Arithmetic;

template <class T>
struct ElementWise {
  using Lane = T;
  HPS_INLINE static void take(Vector<T>&) {}
  HPS_INLINE static void finish(Vector<T>& value) { canonicalise<T>(value); }
};

template <class T>
struct Arithmetic<Op::sum, T> : ElementWise<T> {
  HPS_INLINE static void combine(Vector<T>& left, const Vector<T>& right) { left = left + right; }
};

template <class T>
struct Arithmetic<Op::prod, T> : ElementWise<T> {
  HPS_INLINE static void combine(Vector<T>& left, const Vector<T>& right) { left = left * right; }
};

template <class T>
struct Arithmetic<Op::min, T> : ElementWise<T> {
  HPS_INLINE static void combine(Vector<T>& left, const Vector<T>& right) {
    if constexpr (std::is_floating_point_v<T>) {
      float_min<T>(left, right);
    } else {
      left = left < right ? left : right;
    }
  }
};

// MAX of floats is -MIN of the negated operands: AND in place of float_min's OR could turn a NaN into a number.
template <class T>
struct Arithmetic<Op::max, T> : ElementWise<T> {
  HPS_INLINE static void take(Vector<T>& value) {
    if constexpr (std::is_floating_point_v<T>) value = -value;
  }
  HPS_INLINE static void combine(Vector<T>& left, const Vector<T>& right) {
    if constexpr (std::is_floating_point_v<T>) {
      float_min<T>(left, right);
    } else {
      left = left > right ? left : right;
    }
  }
  HPS_INLINE static void finish(Vector<T>& value) {
    take(value);
    canonicalise<T>(value);
  }
};

// What T is computed in. Sums and products of signed integers wrap, so they are those of the unsigned type.
template <Op op, class T>
struct LaneOf {
  using Type = T;
};
template <Op op, class T>
requires(std::is_integral_v<T> && (op == Op::sum || op == Op::prod)) struct LaneOf<op, T> {
  using Type = std::make_unsigned_t<T>;
};

// The tree over input[0] .. input[operands-1] at byte `at`.
template <class Op, std::uint32_t operands>
HPS_INLINE void combine_tree(const std::byte* const* input, std::size_t at, Vector<typename Op::Lane>& result) {
  if constexpr (operands == 1) {
    std::memcpy(&result, input[0] + at, sizeof result);
    Op::take(result);
  } else {
    constexpr std::uint32_t left = canonical_left(operands);
    Vector<typename Op::Lane> right;
    combine_tree<Op, left>(input, at, result);
    combine_tree<Op, operands - left>(input + left, at, right);
    Op::combine(result, right);
  }
}

// What is left when no whole vector is: `bytes` bytes at byte `at`.
struct Remainder {
  const std::byte* const* inputs;
  std::byte* output;
  std::size_t at;
  std::size_t bytes;
};

// Pads the remainder to a whole vector, which is one more for `kernel` to take.
void reduce_padded(const Remainder& last, Kernel kernel, std::uint32_t operands, std::size_t elements) noexcept {
  alignas(vector_bytes) std::byte padded[max_operands][vector_bytes];
  alignas(vector_bytes) std::byte result[vector_bytes];
  const std::byte* padded_inputs[max_operands];
  for (std::uint32_t i = 0; i < operands; ++i) {
    std::memset(padded[i], 0, vector_bytes);
    std::memcpy(padded[i], last.inputs[i] + last.at, last.bytes);
    padded_inputs[i] = padded[i];
  }
  kernel(padded_inputs, result, elements);
  std::memcpy(last.output + last.at, result, last.bytes);
}

template <class Op, std::uint32_t operands>
HPS_KERNEL_TARGET void reduce(const std::byte* const* inputs, std::byte* output, std::size_t elements) noexcept {
  using Lane = typename Op::Lane;
  const std::byte* input[operands];  // a copy that no store can alias: it stays in registers
  for (std::uint32_t i = 0; i < operands; ++i) input[i] = inputs[i];
  const std::size_t bytes = elements * sizeof(Lane);
  std::size_t at = 0;
  for (; bytes - at >= vector_bytes; at += vector_bytes) {
    Vector<Lane> result;
    combine_tree<Op, operands>(input, at, result);
    Op::finish(result);
    std::memcpy(output + at, &result, sizeof result);
  }
  if (at < bytes) {
    reduce_padded({inputs, output, at, bytes - at}, &reduce<Op, operands>, operands, vector_bytes / sizeof(Lane));
  }
}

template <class T, Op op, std::uint32_t... i>
consteval KernelRow make_row(std::integer_sequence<std::uint32_t, i...>) {
  using Lane = typename LaneOf<op, T>::Type;
  return {{&reduce<Arithmetic<op, Lane>, i + 2>...}};
}

template <class T>
consteval KernelRows make_rows() {
  constexpr auto up_to_max = std::make_integer_sequence<std::uint32_t, max_operands - 1>();
  return {{
#define HPS_OP(name) make_row<T, Op::name>(up_to_max),
#include "util/ops.def"
#undef HPS_OP
  }};
}

}  // namespace

constinit const KernelTable HPS_KERNEL_TABLE = {{
#define HPS_DATATYPE(name, ctype) make_rows<ctype>(),
#include "util/datatypes.def"
#undef HPS_DATATYPE
}};

}  // namespace hps

#undef HPS_INLINE

#endif
