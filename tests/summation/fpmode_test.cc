// SPDX-License-Identifier: BSD-3-Clause
#include "summation/fpmode.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <limits>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace hps {
namespace {

// Not inlined and volatile, so that the compiler computes neither in advance nor on the other side of a change of mode.
[[gnu::noinline]] float sum(float left, float right) {
  volatile float operand = left;
  volatile float result = operand + right;
  return result;
}

TEST(FpModeTest, RoundsToNearestAndRestoresRounding) {
  const float just_over_half = std::numeric_limits<float>::epsilon() / 4;
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  const float before = sum(1, just_over_half);
  float inside = 0;
  {
    const FpMode default_mode;
    inside = sum(1, just_over_half);
  }
  const int rounding = std::fegetround();
  const float after = sum(1, just_over_half);
  std::fesetround(FE_TONEAREST);
  EXPECT_GT(before, 1);
  EXPECT_EQ(inside, 1);
  EXPECT_GT(after, 1);
  EXPECT_EQ(rounding, FE_UPWARD);
}

TEST(FpModeTest, RestoresExceptionFlags) {
  std::feclearexcept(FE_ALL_EXCEPT);
  {
    const FpMode default_mode;
    sum(std::numeric_limits<float>::max(), std::numeric_limits<float>::max());
  }
  EXPECT_EQ(std::fetestexcept(FE_OVERFLOW), 0);
  std::feraiseexcept(FE_OVERFLOW);
  { const FpMode default_mode; }
  EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
  std::feclearexcept(FE_ALL_EXCEPT);
}

#if defined(__x86_64__)
TEST(FpModeTest, KeepsDenormalsAndRestoresFlushing) {
  constexpr unsigned flush_to_zero = 0x8000;
  constexpr unsigned denormals_are_zero = 0x0040;
  const float denormal = std::numeric_limits<float>::denorm_min();
  const unsigned saved = _mm_getcsr();
  _mm_setcsr(saved | flush_to_zero | denormals_are_zero);
  const float before = sum(denormal, denormal);
  float inside = 0;
  {
    const FpMode default_mode;
    inside = sum(denormal, denormal);
  }
  const unsigned mode = _mm_getcsr();
  _mm_setcsr(saved);
  EXPECT_EQ(before, 0);
  EXPECT_EQ(inside, 2 * denormal);
  EXPECT_EQ(mode & (flush_to_zero | denormals_are_zero), flush_to_zero | denormals_are_zero);
}
#endif

}  // namespace
}  // namespace hps
