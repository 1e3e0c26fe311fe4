// SPDX-License-Identifier: BSD-3-Clause
// The kernels themselves, in the vector extension that GCC and Clang share: it needs no optimisation level to be
// vectorised, and one text serves every instruction set. Included once by each kernels_<isa>.cc, which defines
//   HPS_KERNEL_TABLE         the table to define
//   HPS_KERNEL_TARGET        the attribute that names the instruction set
//   HPS_KERNEL_VECTOR_BYTES  the size of its vectors
// Everything is in an anonymous namespace, because each includer compiles it differently. Vectors are passed by
// reference only: by value they would need one ABI for all instruction sets.
//
// Cost: `operands` reads and one write an element. Stores are plain: results are sent next, and should be in the cache.
#ifndef HPS_SRC_SUMMATION_KERNELS_IMPL_H
#define HPS_SRC_SUMMATION_KERNELS_IMPL_H

#define HPS_INLINE HPS_KERNEL_TARGET [[gnu::always_inline]] inline

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "summation/arithmetic_impl.h"
#include "summation/canonical.h"
#include "summation/kernels.h"
#include "summation/pairs_impl.h"
#include "summation/vectors_impl.h"

namespace hps {

namespace {

// The tree over input[0] .. input[operands-1] at byte `at`.
template <class In, class Work, std::uint32_t operands>
HPS_INLINE void combine_tree(const std::byte* const* input, std::size_t at, typename In::Value& result) {
  if constexpr (operands == 1) {
    In::load(input[0] + at, result);
    Work::take(result);
  } else {
    constexpr std::uint32_t left = canonical_left(operands);
    typename In::Value right;
    combine_tree<In, Work, left>(input, at, result);
    combine_tree<In, Work, operands - left>(input + left, at, right);
    Work::combine(result, right);
  }
}

// The result for what lies at byte `at` of the inputs; some operations know a faster way than the tree.
template <class In, class Work, std::uint32_t operands>
HPS_INLINE void evaluate(const std::byte* const* input, std::size_t at, typename In::Value& result) {
  if constexpr (requires { Work::template evaluate<operands>(input, at, result); }) {
    Work::template evaluate<operands>(input, at, result);
  } else {
    combine_tree<In, Work, operands>(input, at, result);
    Work::finish(result);
  }
}

// Where the result of what lies at byte `at` of the inputs goes.
template <class In, class Out>
constexpr std::size_t output_at(std::size_t at) {
  static_assert(In::bytes <= 2 * Out::bytes && Out::bytes <= 2 * In::bytes);
  if constexpr (In::bytes == Out::bytes) return at;
  return In::bytes < Out::bytes ? 2 * at : at / 2;
}

// What is left when no whole step is: `bytes` bytes of every input at byte `at`, `output_bytes` of the output.
struct Remainder {
  const std::byte* const* inputs;
  std::byte* output;
  std::size_t at;
  std::size_t bytes;
  std::size_t output_bytes;
};

// Pads the remainder to a whole step, which is one more for `kernel` to take.
void reduce_padded(const Remainder& last, Kernel kernel, std::uint32_t operands, std::size_t step_bytes) noexcept {
  constexpr std::size_t largest_step = 2 * vector_bytes;
  alignas(vector_bytes) std::byte padded[max_operands][largest_step];
  alignas(vector_bytes) std::byte result[largest_step];
  const std::byte* padded_inputs[max_operands];
  for (std::uint32_t i = 0; i < operands; ++i) {
    std::memset(padded[i], 0, step_bytes);
    std::memcpy(padded[i], last.inputs[i] + last.at, last.bytes);
    padded_inputs[i] = padded[i];
  }
  kernel(padded_inputs, result, step_bytes);
  std::memcpy(last.output, result, last.output_bytes);
}

template <class In, class Work, class Out, std::uint32_t operands>
HPS_KERNEL_TARGET void reduce(const std::byte* const* inputs, std::byte* output, std::size_t bytes) noexcept {
  const std::byte* input[operands];  // a copy that no store can alias: it stays in registers
  for (std::uint32_t i = 0; i < operands; ++i) input[i] = inputs[i];
  std::size_t at = 0;
  for (; bytes - at >= In::bytes; at += In::bytes) {
    typename In::Value result;
    evaluate<In, Work, operands>(input, at, result);
    Out::store(result, output + output_at<In, Out>(at));
  }
  if (at < bytes) {
    const Remainder last = {inputs, output + output_at<In, Out>(at), at, bytes - at, output_at<In, Out>(bytes - at)};
    reduce_padded(last, &reduce<In, Work, Out, operands>, operands, In::bytes);
  }
}

// What T is computed in. Bits and sums and products of signed integers are those of the unsigned type.
template <Op op, class T>
struct LaneOf {
  static constexpr bool unsigned_does = op != Op::min && op != Op::max;
  using Integer = typename std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool> && unsigned_does,
                                              std::make_unsigned<T>, std::type_identity<T>>::type;
  using Type = std::conditional_t<std::is_same_v<T, bool> || std::is_same_v<T, std::byte>, std::uint8_t, Integer>;
};
template <Op op, class T>
struct LaneOf<op, std::complex<T>> {
  using Type = T;
};
template <Op op, class T>
requires(sizeof(T) == 2 && !std::is_integral_v<T>) struct LaneOf<op, T> {  // the 16-bit floats
  using Type = float;
};
template <Op op, class T>
struct LaneOf<op, ValueIndex<T>> {
  using Type = std::int64_t;
};

// Of doubles AVX2 and SSE2 lack the comparison that it needs.
template <class T>
constexpr bool max_by_order = std::is_same_v<T, float>&& vector_bytes < 64;
template <class T>
requires(max_by_order<T>) struct LaneOf<Op::max, T> {
  using Type = typename Order<T>::Lane;
};

// The arithmetic of an operation on T.
template <Op op, class T>
struct WorkOf {
  using Lane = typename LaneOf<op, T>::Type;
  static auto choose() {
    if constexpr (op == Op::sum) return Sum<Lane>();
    if constexpr (op == Op::prod) return Product<Lane>();
    if constexpr (op == Op::min) return Minimum<Lane>();
    if constexpr (op == Op::max) return Maximum<Lane>();
    if constexpr (op == Op::land) return Logical<And, Lane>();
    if constexpr (op == Op::lor) return Logical<Or, Lane>();
    if constexpr (op == Op::lxor) return Logical<ExclusiveOr, Lane>();
    if constexpr (op == Op::band) return Bitwise<And, std::uint64_t>();
    if constexpr (op == Op::bor) return Bitwise<Or, std::uint64_t>();
    if constexpr (op == Op::bxor) return Bitwise<ExclusiveOr, std::uint64_t>();
  }
  using Type = decltype(choose());
};
template <class T>
requires(max_by_order<T>) struct WorkOf<Op::max, T> {
  using Type = ByOrder<T, Maximum>;
};
#if HPS_KERNEL_VECTOR_BYTES == 64
template <class T>
requires(std::is_floating_point_v<T>) struct WorkOf<Op::min, T> {
  using Type = FloatExtreme<T, Extreme::minimum>;
};
template <class T>
requires(std::is_floating_point_v<T>) struct WorkOf<Op::max, T> {
  using Type = FloatExtreme<T, Extreme::maximum>;
};
#endif
template <class T>
struct WorkOf<Op::prod, std::complex<T>> {
  using Type = ComplexProduct<T>;
};
template <class T, Extreme extreme>
using Location = std::conditional_t<std::is_integral_v<T> && sizeof(ValueIndex<T>) == 8, KeyLocation<T, extreme>,
                                    ValueLocation<T, extreme>>;
template <class T>
struct WorkOf<Op::minloc, ValueIndex<T>> {
  using Type = Location<T, Extreme::minimum>;
};
template <class T>
struct WorkOf<Op::maxloc, ValueIndex<T>> {
  using Type = Location<T, Extreme::maximum>;
};

constexpr bool is_bitwise(Op op) { return op == Op::band || op == Op::bor || op == Op::bxor; }

using From2 = std::make_integer_sequence<std::uint32_t, max_operands - 1>;

template <class In, class Work, class Out, std::uint32_t... i>
consteval KernelRow make_row(const WideKernels* wide, std::integer_sequence<std::uint32_t, i...>) {
  return {{&reduce<In, Work, Out, i + 2>...}, wide};
}

template <class In, class Work, std::uint32_t... i>
consteval WideKernels make_wide(std::integer_sequence<std::uint32_t, i...>) {
  using Wide = Memory<float>;
  return {{&reduce<In, Identity<float>, Wide, 1>, &reduce<In, Work, Wide, i + 2>...},
          {&reduce<Wide, Work, Wide, i + 2>...},
          &reduce<Wide, Identity<float>, In, 1>};
}

template <class T, class Work>
constexpr WideKernels wide_kernels = make_wide<Packed<T>, Work>(From2());

// What takes 16-bit floats and gives such needs not go the way over one vector of floats.
template <class T, Op op, class Work>
consteval KernelRow make_half_row(const WideKernels* wide) {
  using Bits = Memory<std::int16_t>;
  if constexpr (op == Op::min) {
    return make_row<Bits, ByOrder<T, Minimum>, Bits>(wide, From2());
  } else if constexpr (op == Op::max) {
    return make_row<Bits, ByOrder<T, Maximum>, Bits>(wide, From2());
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return make_row<Interleaved, Planewise<Work, float>, Interleaved>(wide, From2());
  } else {
    return make_row<Packed<T>, Work, Packed<T>>(wide, From2());
  }
}

template <class T, Op op, Datatype type>
consteval KernelRow make_row() {
  if constexpr (!op_supports(op, type)) {
    return {};
  } else {
    using Work = typename WorkOf<op, T>::Type;
    using Lane = std::conditional_t<is_bitwise(op), std::uint64_t, typename LaneOf<op, T>::Type>;
    if constexpr (partial_datatype(type) != type) {
      return make_half_row<T, op, Work>(&wide_kernels<T, Work>);
    } else if constexpr (std::is_same_v<Work, ComplexProduct<Lane>>) {
      return make_row<Pairwise<Lane>, Work, Pairwise<Lane>>(nullptr, From2());
    } else {
      return make_row<Memory<Lane>, Work, Memory<Lane>>(nullptr, From2());
    }
  }
}

template <class T, Datatype type>
constexpr KernelRows rows = {{
#define HPS_OP(name) make_row<T, Op::name, type>(),
#include "util/ops.def"
#undef HPS_OP
}};

template <class T, Datatype type>
consteval const KernelRows* rows_of() {
  if constexpr (std::is_same_v<T, long double>) {
    return &long_double_rows;
  } else if constexpr (std::is_same_v<T, std::complex<long double>>) {
    return &complex_long_double_rows;
  } else if constexpr (std::is_same_v<T, ValueIndex<long double>>) {
    return &long_double_int_rows;
  } else {
    return &rows<T, type>;
  }
}

}  // namespace

constinit const KernelTable HPS_KERNEL_TABLE = {{
#define HPS_DATATYPE(name, ctype, kind) rows_of<ctype, Datatype::name>(),
#include "util/datatypes.def"
#undef HPS_DATATYPE
}};

}  // namespace hps

#undef HPS_INLINE

#endif
