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
template <class Float>
[[gnu::noinline]] Float sum(Float left, Float right) {
  volatile Float operand = left;
  volatile Float result = operand + right;
  return result;
}

template <class Float>
class FpModeOf : public testing::Test {};
using Floats = testing::Types<float, double, long double>;
TYPED_TEST_SUITE(FpModeOf, Floats);

TYPED_TEST(FpModeOf, RoundsToNearestAndRestoresRounding) {
  const TypeParam one = 1;
  const TypeParam small = std::numeric_limits<TypeParam>::epsilon() / 4;
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  const TypeParam before = sum(one, small);
  TypeParam inside = 0;
  {
    const FpMode default_mode;
    inside = sum(one, small);
  }
  const int rounding = std::fegetround();
  const TypeParam after = sum(one, small);
  std::fesetround(FE_TONEAREST);
  EXPECT_GT(before, 1);
  EXPECT_EQ(inside, 1);
  EXPECT_GT(after, 1);
  EXPECT_EQ(rounding, FE_UPWARD);
}

TYPED_TEST(FpModeOf, RestoresExceptionFlags) {
  std::feclearexcept(FE_ALL_EXCEPT);
  std::feraiseexcept(FE_DIVBYZERO);
  {
    const FpMode default_mode;
    sum(std::numeric_limits<TypeParam>::max(), std::numeric_limits<TypeParam>::max());
  }
  EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), FE_DIVBYZERO);
  std::feraiseexcept(FE_OVERFLOW);
  { const FpMode default_mode; }
  EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
  std::feclearexcept(FE_ALL_EXCEPT);
}

#if defined(__x86_64__)
// As some programs set it, for the sake of doubles on the x87.
TEST(FpModeTest, LongDoublesHaveTheirWholePrecision) {
  const auto set_control = [](std::uint16_t control) { __asm__ volatile("fldcw %0" : : "m"(control)); };
  constexpr std::uint16_t double_precision = 0x027f;
  const long double one = 1;
  const long double small = std::numeric_limits<long double>::epsilon();
  set_control(double_precision);
  const long double before = sum(one, small);
  long double inside = 0;
  {
    const FpMode default_mode;
    inside = sum(one, small);
  }
  std::uint16_t after = 0;
  __asm__ volatile("fnstcw %0" : "=m"(after));
  set_control(0x037f);
  EXPECT_EQ(before, 1);
  EXPECT_GT(inside, 1);
  EXPECT_EQ(after & 0x0f3f, double_precision & 0x0f3f);
}

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
