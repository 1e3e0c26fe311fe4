// SPDX-License-Identifier: BSD-3-Clause
// Vectors of one instruction set, and how elements get from memory into them and back: part of kernels_impl.h, which
// says what its macros are.
//
// A format tells how a value, which is a vector or two, lies in memory: load() takes `bytes` bytes of it, store() puts
// them. Memory<Lane> is the vector itself; Packed<Float16> and Packed<Bfloat16> are a vector of floats in 16 bits each,
// rounded to nearest even. Interleaved is twice as many of the latter: two vectors, which need not be unpacked.
#ifndef HPS_SRC_SUMMATION_VECTORS_IMPL_H
#define HPS_SRC_SUMMATION_VECTORS_IMPL_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "util/types.h"

#if HPS_KERNEL_VECTOR_BYTES > 16
#include <immintrin.h>
#endif

namespace hps {

namespace {

inline constexpr std::size_t vector_bytes = HPS_KERNEL_VECTOR_BYTES;

template <class Lane, std::size_t bytes = vector_bytes>
struct Vectors {
  typedef Lane Vector __attribute__((vector_size(bytes)));
};
template <class Lane>
using Vector = typename Vectors<Lane>::Vector;
using HalfVector = Vectors<std::uint16_t, vector_bytes / 2>::Vector;  // as many lanes as a vector of floats has

template <class Lane>
struct Memory {
  using Value = Vector<Lane>;
  static constexpr std::size_t bytes = vector_bytes;
  HPS_INLINE static void load(const std::byte* from, Value& value) { std::memcpy(&value, from, sizeof value); }
  HPS_INLINE static void store(const Value& value, std::byte* to) { std::memcpy(to, &value, sizeof value); }
};

template <class Lane, int... i>
HPS_INLINE void even_twice(Vector<Lane>& value, std::integer_sequence<int, i...>) {
  value = __builtin_shufflevector(value, value, (i & ~1)...);
}
// The even lanes of what lies there, each twice. The load unit does that, where the compiler would load once for this
// and for the lanes as they are, and keep the unit for shuffles busy.
template <class Lane>
HPS_INLINE void load_even_twice(const std::byte* from, Vector<Lane>& value) {
#if HPS_KERNEL_VECTOR_BYTES > 16
  const auto* const bytes = reinterpret_cast<const std::byte(*)[vector_bytes]>(from);
  if constexpr (sizeof(Lane) == 4) {
    __asm__("vmovsldup %1, %0" : "=v"(value) : "m"(*bytes));
  } else {
    __asm__("vmovddup %1, %0" : "=v"(value) : "m"(*bytes));
  }
#else
  std::memcpy(&value, from, sizeof value);
  even_twice<Lane>(value, std::make_integer_sequence<int, vector_bytes / sizeof(Lane)>());
#endif
}

template <class Element>
struct Packed;

// The upper half of a float, rounded half to even, in the upper half of each lane: half of the lower part's range is
// added, less one if the upper part is even. A canonical NaN and the infinities stay what they are, and what rounds
// above the largest number becomes infinity.
HPS_INLINE void round_to_upper_half(const Vector<float>& value, Vector<std::uint32_t>& rounded) {
  const auto bits = reinterpret_cast<Vector<std::uint32_t>>(value);
  rounded = bits + 0x7fff + (bits >> 16 & 1);
}

template <>
struct Packed<Bfloat16> {
  using Value = Vector<float>;
  static constexpr std::size_t bytes = vector_bytes / 2;
  HPS_INLINE static void load(const std::byte* from, Value& value) {
    HalfVector half;
    std::memcpy(&half, from, sizeof half);
    value = reinterpret_cast<Value>(__builtin_convertvector(half, Vector<std::uint32_t>) << 16);
  }
  HPS_INLINE static void store(const Value& value, std::byte* to) {
    Vector<std::uint32_t> rounded;
    round_to_upper_half(value, rounded);
    const HalfVector half = __builtin_convertvector(rounded >> 16, HalfVector);
    std::memcpy(to, &half, sizeof half);
  }
};

// Two vectors, of what lies in memory in turns: the first of each two neighbours is in `lower`.
template <class Lane>
struct Planes {
  Vector<Lane> lower;
  Vector<Lane> upper;
};

// Taken apart on the way in and put together again on the way out, within each 16 bytes, for which there are
// instructions. So the lanes of a plane are in an order of their own.
template <class Lane>
struct Pairwise {
  using Value = Planes<Lane>;
  static constexpr std::size_t bytes = 2 * vector_bytes;
  HPS_INLINE static void load(const std::byte* from, Value& value) {
    Vector<Lane> first, second;  // no array: GCC would put it on the stack
    std::memcpy(&first, from, vector_bytes);
    std::memcpy(&second, from + vector_bytes, vector_bytes);
    take_apart(first, second, value, std::make_integer_sequence<int, lanes>());
  }
  HPS_INLINE static void store(const Value& value, std::byte* to) {
    Vector<Lane> first, second;
    put_together(value, first, second, std::make_integer_sequence<int, lanes>());
    std::memcpy(to, &first, vector_bytes);
    std::memcpy(to + vector_bytes, &second, vector_bytes);
  }

 private:
  static constexpr int lanes = vector_bytes / sizeof(Lane);
  static constexpr int block = 16 / sizeof(Lane);
  static constexpr int half = block / 2;

  // The even lanes of a block of the first vector, then those of the second.
  static constexpr int even(int i) {
    const int in_block = i % block;
    return i - in_block + (in_block < half ? 2 * in_block : lanes + 2 * (in_block - half));
  }
  // The lanes of half a block of the two planes in turns.
  static constexpr int in_turns(int i) { return i - i % block + i % block / 2 + i % 2 * lanes; }

  template <int... i>
  HPS_INLINE static void take_apart(const Vector<Lane>& first, const Vector<Lane>& second, Value& value,
                                    std::integer_sequence<int, i...>) {
    value.lower = __builtin_shufflevector(first, second, even(i)...);
    value.upper = __builtin_shufflevector(first, second, (even(i) + 1)...);
  }
  template <int... i>
  HPS_INLINE static void put_together(const Value& value, Vector<Lane>& first, Vector<Lane>& second,
                                      std::integer_sequence<int, i...>) {
    first = __builtin_shufflevector(value.lower, value.upper, in_turns(i)...);
    second = __builtin_shufflevector(value.lower, value.upper, (in_turns(i) + half)...);
  }
};

struct Interleaved {  // of Bfloat16
  using Value = Planes<float>;
  static constexpr std::size_t bytes = vector_bytes;
  HPS_INLINE static void load(const std::byte* from, Value& value) {
    Vector<std::uint32_t> both;
    std::memcpy(&both, from, sizeof both);
    value.lower = reinterpret_cast<Vector<float>>(both << 16);
    value.upper = reinterpret_cast<Vector<float>>(both & 0xffff0000);
  }
  HPS_INLINE static void store(const Value& value, std::byte* to) {
    Vector<std::uint32_t> lower, upper;
    round_to_upper_half(value.lower, lower);
    round_to_upper_half(value.upper, upper);
    const Vector<std::uint32_t> both = (upper & 0xffff0000) | lower >> 16;
    std::memcpy(to, &both, sizeof both);
  }
};

#if HPS_KERNEL_VECTOR_BYTES == 64
// GCC 12 warns of the value that the forms without a mask leave undefined.
template <>
struct Packed<Float16> {
  using Value = Vector<float>;
  static constexpr std::size_t bytes = 32;
  static constexpr __mmask16 all = 0xffff;
  HPS_INLINE static void load(const std::byte* from, Value& value) {
    value = reinterpret_cast<Vector<float>>(
        _mm512_maskz_cvtph_ps(all, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
  }
  HPS_INLINE static void store(const Value& value, std::byte* to) {
    const __m256i half = _mm512_maskz_cvtps_ph(all, reinterpret_cast<__m512>(value), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), half);
  }
};
#elif HPS_KERNEL_VECTOR_BYTES == 32
template <>
struct Packed<Float16> {
  using Value = Vector<float>;
  static constexpr std::size_t bytes = 16;
  HPS_INLINE static void load(const std::byte* from, Value& value) {
    value = reinterpret_cast<Vector<float>>(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  }
  HPS_INLINE static void store(const Value& value, std::byte* to) {
    const __m128i half = _mm256_cvtps_ph(reinterpret_cast<__m256>(value), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), half);
  }
};
#else
// Without instructions for it. A half's bits, shifted to a float's place, are its value times 2^-112, also where the
// half is denormal; the product with 2^112 is exact. The way back: a number that is normal as a half is rounded in its
// bits; a smaller one by an addition that leaves just a half's denormal bits in the sum.
template <>
struct Packed<Float16> {
  using Value = Vector<float>;
  using Bits = Vector<std::uint32_t>;
  static constexpr std::size_t bytes = vector_bytes / 2;
  HPS_INLINE static void load(const std::byte* from, Value& value) {
    HalfVector half;
    std::memcpy(&half, from, sizeof half);
    const Bits bits = __builtin_convertvector(half, Bits);
    const Vector<float> magnitude = reinterpret_cast<Vector<float>>((bits & 0x7fff) << 13) * 0x1p112f;
    const Bits special = reinterpret_cast<Bits>((bits & 0x7c00) == 0x7c00) & 0x7f800000;
    value = reinterpret_cast<Vector<float>>(reinterpret_cast<Bits>(magnitude) | special | (bits & 0x8000) << 16);
  }
  HPS_INLINE static void store(const Value& value, std::byte* to) {
    constexpr std::uint32_t least_normal = 0x38800000;    // 2^-14
    constexpr std::uint32_t least_infinity = 0x477ff000;  // 65520
    const auto bits = reinterpret_cast<Bits>(value);
    const Bits magnitude = bits & 0x7fffffff;
    const Bits normal = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
    const Vector<float> shifted = reinterpret_cast<Vector<float>>(magnitude) + 0.5f;  // 0.5's last bit is 2^-24
    const Bits denormal = reinterpret_cast<Bits>(shifted) - 0x3f000000;
    const Bits infinity = Bits{} + 0x7c00;
    const Bits quiet_nan = Bits{} + 0x7e00;
    Bits result = magnitude < least_normal ? denormal : normal;
    result = magnitude >= least_infinity ? infinity : result;
    result = magnitude > 0x7f800000 ? quiet_nan : result;
    const HalfVector half = __builtin_convertvector(result | (bits >> 16 & 0x8000), HalfVector);
    std::memcpy(to, &half, sizeof half);
  }
};
#endif

}  // namespace

}  // namespace hps

#endif
