// SPDX-License-Identifier: BSD-3-Clause
// FpMode: a guard under which floating-point arithmetic is IEEE 754's default: rounding to nearest even, denormals
// kept, no exception trapped. Results must not depend on the mode that the calling thread happens to be in (a program
// linked with -ffast-math flushes denormals in every thread). The caller's mode and exception flags come back at the
// end.
//
// The compiler does not know that arithmetic depends on the mode, so it may move arithmetic out of a guard's scope:
// keep the arithmetic behind a call that is not inlined (HPS calls its kernels through a table).
#ifndef HPS_SRC_SUMMATION_FPMODE_H
#define HPS_SRC_SUMMATION_FPMODE_H

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace hps {

class FpMode {
 public:
  FpMode(const FpMode&) = delete;
  FpMode& operator=(const FpMode&) = delete;

#if defined(__x86_64__)
  // MXCSR alone, a few cycles: x86-64 uses no x87 arithmetic for float and double, and fesetenv would load both.
  FpMode() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(default_mxcsr); }
  ~FpMode() { _mm_setcsr(saved_); }

 private:
  static constexpr unsigned default_mxcsr = 0x1f80;  // exceptions masked, round to nearest, FTZ and DAZ off
  unsigned saved_;
#else
  FpMode() noexcept {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FpMode() { std::fesetenv(&saved_); }

 private:
  std::fenv_t saved_;
#endif
};

}  // namespace hps

#endif
