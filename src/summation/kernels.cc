// SPDX-License-Identifier: BSD-3-Clause
// The choice between the kernel tables.
#include "summation/kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace hps {

namespace {

#if defined(__x86_64__)
// clang 14's __builtin_cpu_supports does not know F16C. AVX2 tells that the operating system keeps its registers.
bool cpu_has_avx2_and_f16c() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

// What kernels_avx512.cc is compiled for. __builtin_cpu_supports asks the operating system too (XGETBV).
bool cpu_has_avx512() noexcept {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

const KernelTable* choose() noexcept {
  const KernelTable* best = nullptr;
  for (Isa isa : all_isas) {
    if (const KernelTable* table = kernel_table(isa)) best = table;
  }
  return best;
}

}  // namespace

const char* isa_name(Isa isa) noexcept {
  switch (isa) {
    case Isa::baseline:
      return "baseline";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
  }
  return "unknown";
}

const KernelTable* kernel_table(Isa isa) noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (isa == Isa::avx512) return cpu_has_avx512() ? &kernel_table_avx512 : nullptr;
  if (isa == Isa::avx2) return cpu_has_avx2_and_f16c() ? &kernel_table_avx2 : nullptr;
#endif
  return isa == Isa::baseline ? &kernel_table_baseline : nullptr;
}

const KernelTable& best_kernel_table() noexcept {
  static const KernelTable* const best = choose();
  return *best;
}

}  // namespace hps
