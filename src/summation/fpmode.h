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

#include <cstdint>
#else
#include <cfenv>
#endif

namespace hps {

class FpMode {
 public:
  FpMode(const FpMode&) = delete;
  FpMode& operator=(const FpMode&) = delete;

#if defined(__x86_64__)
  // Two control registers, a few cycles each: fesetenv, which loads all of both units, costs a hundred. They are
  // written only if that changes something: what comes before and after a write to one does not overlap.
  FpMode() noexcept : mxcsr_(_mm_getcsr()), x87_control_(x87_control()), x87_status_(x87_status()) {
    if ((mxcsr_ & ~mxcsr_exceptions) != default_mxcsr) _mm_setcsr(default_mxcsr);
    if (x87_control_ != default_x87_control) set_x87_control(default_x87_control);
  }
  ~FpMode() {
    if (_mm_getcsr() != mxcsr_) _mm_setcsr(mxcsr_);
    if (((x87_status() ^ x87_status_) & x87_exceptions) != 0) restore_x87_exceptions();
    if (x87_control_ != default_x87_control) set_x87_control(x87_control_);
  }

 private:
  static constexpr unsigned default_mxcsr = 0x1f80;  // exceptions masked, round to nearest, FTZ and DAZ off
  static constexpr unsigned mxcsr_exceptions = 0x003f;
  static constexpr std::uint16_t default_x87_control = 0x037f;  // exceptions masked, round to nearest, 64 bits
  static constexpr unsigned x87_exceptions = 0x003f;

  static std::uint16_t x87_control() noexcept {
    std::uint16_t control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    return control;
  }
  static void set_x87_control(std::uint16_t control) noexcept { __asm__ volatile("fldcw %0" : : "m"(control)); }
  static std::uint16_t x87_status() noexcept {
    std::uint16_t status;
    __asm__ volatile("fnstsw %0" : "=m"(status));
    return status;
  }
  // Long doubles raised exceptions. No instruction loads the status alone.
  void restore_x87_exceptions() const noexcept {
    struct {
      std::uint32_t control, status, others[5];
    } environment;
    __asm__ volatile("fnstenv %0" : "=m"(environment));
    environment.control = default_x87_control;
    environment.status = (environment.status & ~x87_exceptions) | (x87_status_ & x87_exceptions);
    __asm__ volatile("fldenv %0" : : "m"(environment));
  }

  unsigned mxcsr_;
  std::uint16_t x87_control_;
  std::uint16_t x87_status_;
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
