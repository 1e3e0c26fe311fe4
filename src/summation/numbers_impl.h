// SPDX-License-Identifier: BSD-3-Clause
// Which floats are no numbers: part of kernels_impl.h. Minima and maxima of numbers take an instruction or two, which
// let a NaN get lost; so the operands are looked at once more, two with one instruction.
#ifndef HPS_SRC_SUMMATION_NUMBERS_IMPL_H
#define HPS_SRC_SUMMATION_NUMBERS_IMPL_H

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "summation/vectors_impl.h"

namespace hps {

namespace {

// The lanes in which all vectors that it was shown hold numbers.
#if HPS_KERNEL_VECTOR_BYTES == 64
template <class Float>
class NumberLanes {
 public:
  HPS_INLINE void look_at(const Vector<Float>& a, const Vector<Float>& b) {
    if constexpr (sizeof(Float) == 4) {
      lanes_ = _mm512_mask_cmp_ps_mask(lanes_, reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), _CMP_ORD_Q);
    } else {
      lanes_ = _mm512_mask_cmp_pd_mask(lanes_, reinterpret_cast<__m512d>(a), reinterpret_cast<__m512d>(b), _CMP_ORD_Q);
    }
  }
  HPS_INLINE bool are_all() const { return lanes_ == all; }
  // `value` in these lanes, the canonical NaN in the others.
  HPS_INLINE void canonicalise(Vector<Float>& value) const {
    const Vector<Float> quiet_nan = Vector<Float>{} + std::numeric_limits<Float>::quiet_NaN();
    if constexpr (sizeof(Float) == 4) {
      value = reinterpret_cast<Vector<Float>>(
          _mm512_mask_mov_ps(reinterpret_cast<__m512>(quiet_nan), lanes_, reinterpret_cast<__m512>(value)));
    } else {
      value = reinterpret_cast<Vector<Float>>(
          _mm512_mask_mov_pd(reinterpret_cast<__m512d>(quiet_nan), lanes_, reinterpret_cast<__m512d>(value)));
    }
  }

 private:
  using Mask = std::conditional_t<sizeof(Float) == 4, __mmask16, __mmask8>;
  static constexpr auto all = static_cast<Mask>(-1);
  Mask lanes_ = all;
};
#else
template <class Float>
class NumberLanes {
 public:
  HPS_INLINE void look_at(const Vector<Float>& a, const Vector<Float>& b) { lanes_ &= (a == a) & (b == b); }
  HPS_INLINE bool are_all() const {
#if HPS_KERNEL_VECTOR_BYTES == 32
    return _mm256_movemask_epi8(reinterpret_cast<__m256i>(lanes_)) == -1;
#else
    std::uint64_t halves[2];
    std::memcpy(halves, &lanes_, sizeof halves);
    return (halves[0] & halves[1]) == ~std::uint64_t{0};
#endif
  }

 private:
  using Lane = std::conditional_t<sizeof(Float) == 4, std::int32_t, std::int64_t>;
  Vector<Lane> lanes_ = Vector<Lane>{} - 1;
};
#endif

// values[0] .. values[sizeof...(i) - 1]
template <class Float, std::uint32_t... i>
HPS_INLINE void look_at_all(const Vector<Float>* values, NumberLanes<Float>& lanes,
                            std::integer_sequence<std::uint32_t, i...>) {
  constexpr std::uint32_t count = sizeof...(i);
  ((i % 2 == 1 ? lanes.look_at(values[i - 1], values[i]) : void()), ...);
  if constexpr (count % 2 == 1) lanes.look_at(values[count - 1], values[count - 1]);
}

}  // namespace

}  // namespace hps

#endif
