// SPDX-License-Identifier: BSD-3-Clause
// Kernels for AVX2, with F16C, which every CPU with AVX2 has: vectors of 32 bytes. Empty on other architectures than
// x86-64.
#if defined(__x86_64__)
#define HPS_KERNEL_TABLE kernel_table_avx2
#define HPS_KERNEL_TARGET [[gnu::target("avx2,f16c")]]
#define HPS_KERNEL_VECTOR_BYTES 32
#include "summation/kernels_impl.h"
#endif
