// SPDX-License-Identifier: BSD-3-Clause
// Sums that the CPU's instructions limit, not memory: loops that do only what no kernel can do without, and thus no NaN
// of one form, no tree, and of bfloat16 no rounding. A float16 takes a conversion an operand, an addition, and a
// conversion of the result; a bfloat16 is taken apart and put together; a long double is loaded, added and stored by
// the x87 unit.
#ifndef HPS_BENCH_INSTRUCTION_BOUND_H
#define HPS_BENCH_INSTRUCTION_BOUND_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "summation/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hps {

// output = the sum of `bytes` bytes of each input.
using BoundLoop = void (*)(const std::byte* const* inputs, std::byte* output, std::size_t bytes);

template <std::size_t n>
std::array<const std::byte*, n> copy_of(const std::byte* const* inputs) {  // which no store can alias
  std::array<const std::byte*, n> copy;
  for (std::size_t i = 0; i < n; ++i) copy[i] = inputs[i];
  return copy;
}

template <std::size_t n>
void long_double_bound(const std::byte* const* inputs, std::byte* output, std::size_t bytes) {
  const auto input = copy_of<n>(inputs);
  for (std::size_t at = 0; at < bytes; at += sizeof(long double)) {
    long double sum = *reinterpret_cast<const long double*>(input[0] + at);
    for (std::size_t i = 1; i < n; ++i) sum += *reinterpret_cast<const long double*>(input[i] + at);
    *reinterpret_cast<long double*>(output + at) = sum;
  }
}

#if defined(__x86_64__)
#define HPS_BOUND_TARGET [[gnu::target("avx512f")]]

HPS_BOUND_TARGET [[gnu::always_inline]] inline __m512 float16_at(const std::byte* from) {
  return _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

template <std::size_t n>
HPS_BOUND_TARGET void float16_bound(const std::byte* const* inputs, std::byte* output, std::size_t bytes) {
  const auto input = copy_of<n>(inputs);
  for (std::size_t at = 0; at < bytes; at += 32) {
    __m512 sum = float16_at(input[0] + at);
    for (std::size_t i = 1; i < n; ++i) sum = _mm512_add_ps(sum, float16_at(input[i] + at));
    const __m256i rounded = _mm512_maskz_cvtps_ph(0xffff, sum, _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(output + at), rounded);
  }
}

template <std::size_t n>
HPS_BOUND_TARGET void bfloat16_bound(const std::byte* const* inputs, std::byte* output, std::size_t bytes) {
  const auto input = copy_of<n>(inputs);
  const __m512i upper_half = _mm512_set1_epi32(-0x10000);
  for (std::size_t at = 0; at < bytes; at += 64) {
    __m512 lower = _mm512_setzero_ps(), upper = lower;
    for (std::size_t i = 0; i < n; ++i) {
      const __m512i both = _mm512_loadu_si512(input[i] + at);
      const __m512 low = _mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xffff, both, 16));
      const __m512 high = _mm512_castsi512_ps(_mm512_and_si512(both, upper_half));
      lower = i == 0 ? low : _mm512_add_ps(lower, low);
      upper = i == 0 ? high : _mm512_add_ps(upper, high);
    }
    const __m512i low = _mm512_maskz_srli_epi32(0xffff, _mm512_castps_si512(lower), 16);
    const __m512i high = _mm512_and_si512(_mm512_castps_si512(upper), upper_half);
    _mm512_storeu_si512(output + at, _mm512_or_si512(low, high));
  }
}
#undef HPS_BOUND_TARGET
#endif

template <std::size_t... i>
BoundLoop bound_loop_of(Isa isa, Datatype type, std::uint32_t n, std::index_sequence<i...>) {
  static constexpr BoundLoop long_double[] = {&long_double_bound<i + 2>...};
  if (type == Datatype::long_double || type == Datatype::complex_long_double) return long_double[n - 2];
#if defined(__x86_64__)
  static constexpr BoundLoop float16[] = {&float16_bound<i + 2>...};
  static constexpr BoundLoop bfloat16[] = {&bfloat16_bound<i + 2>...};
  if (isa == Isa::avx512 && type == Datatype::float16) return float16[n - 2];
  if (isa == Isa::avx512 && type == Datatype::bfloat16) return bfloat16[n - 2];
#endif
  return nullptr;
}

// Of `n` inputs, 2 to max_operands; null where there is none for the type and the instruction set.
inline BoundLoop bound_loop_of(Isa isa, Datatype type, std::uint32_t n) {
  return bound_loop_of(isa, type, n, std::make_index_sequence<max_operands - 1>());
}

}  // namespace hps

#endif
