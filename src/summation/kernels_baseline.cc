// SPDX-License-Identifier: BSD-3-Clause
// Kernels for what every CPU of the architecture has: vectors of 16 bytes.
#define HPS_KERNEL_TABLE kernel_table_baseline
#define HPS_KERNEL_TARGET
#define HPS_KERNEL_VECTOR_BYTES 16
#include "summation/kernels_impl.h"
