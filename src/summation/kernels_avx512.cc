// SPDX-License-Identifier: BSD-3-Clause
// Kernels for AVX-512 as Skylake servers and Zen 4 have it: vectors of 64 bytes; BW for 8 and 16-bit elements, DQ for
// products of 64-bit ones. Empty on other architectures than x86-64.
#if defined(__x86_64__)
#define HPS_KERNEL_TABLE kernel_table_avx512
#define HPS_KERNEL_TARGET [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]]
#define HPS_KERNEL_VECTOR_BYTES 64
#include "summation/kernels_impl.h"
#endif
