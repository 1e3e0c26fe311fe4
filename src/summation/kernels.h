// SPDX-License-Identifier: BSD-3-Clause
// Kernels: the loops that combine up to 16 vectors into one, in one pass, with the intermediate values in registers.
// They are compiled for each instruction set in the list below and chosen by what the CPU has (explicitly, not by
// ifunc, which runs before the sanitizers are ready). The same inputs give the same bits at every level:
//  * the order of combination is canonical_left's;
//  * integers wrap; logical operations give 0 or 1;
//  * a floating-point result that is not a number is the canonical quiet NaN, in complex numbers each part by itself:
//    which operand's payload survives an addition is the compiler's choice otherwise;
//  * MIN and MAX are not a number if any operand is not, and hold -0 to be less than +0;
//  * a product of complex numbers is (ac - bd) + (ad + bc)i, each operation rounded, infinities not treated specially;
//  * 16-bit floats are combined as floats and rounded once, to nearest even;
//  * MINLOC and MAXLOC give the lowest index of equal values. Zeros of either sign are equal, and come out as +0; a
//    value that is not a number comes before all numbers. Gaps in a pair and in a long double come out as zeros.
#ifndef HPS_SRC_SUMMATION_KERNELS_H
#define HPS_SRC_SUMMATION_KERNELS_H

#include <cstddef>
#include <cstdint>

#include "util/types.h"

namespace hps {

// The most vectors that one kernel combines.
inline constexpr std::uint32_t max_operands = 16;

// output = the canonical tree over inputs[0] .. inputs[operands-1], element by element; `bytes` is what one input has,
// whole elements. Nothing need be aligned. The output may be one of the inputs, but not overlap one otherwise.
using Kernel = void (*)(const std::byte* const* inputs, std::byte* output, std::size_t bytes) noexcept;

// Of a datatype whose intermediate values are wider than its elements (partial_datatype).
struct WideKernels {
  Kernel widen[max_operands];        // 1 .. max_operands inputs of elements, intermediate values out
  Kernel combine[max_operands - 1];  // 2 .. max_operands inputs of intermediate values, the same out
  Kernel round;                      // 1 input of intermediate values, elements out
};

// The kernels of one datatype and operation, elements in and elements out; null where the operation is not defined.
struct KernelRow {
  Kernel kernels[max_operands - 1];
  const WideKernels* wide;                                                            // null if not wider
  Kernel of(std::uint32_t operands) const noexcept { return kernels[operands - 2]; }  // 2 .. max_operands
};

struct KernelRows {  // of one datatype, by operation
  KernelRow ops[op_count];
};

struct KernelTable {
  const KernelRows* types[datatype_count];
  const KernelRow& row(Datatype type, Op op) const noexcept {
    return types[static_cast<std::size_t>(type)]->ops[static_cast<std::size_t>(op)];
  }
};

// Instruction sets, worst first. The baseline is what the compiler was told to assume (x86-64: SSE2).
enum class Isa : std::uint8_t { baseline, avx2, avx512 };
inline constexpr Isa all_isas[] = {Isa::baseline, Isa::avx2, Isa::avx512};

const char* isa_name(Isa isa) noexcept;

// The kernels for `isa`; nullptr where this CPU does not have it.
const KernelTable* kernel_table(Isa isa) noexcept;

// The kernels for the best instruction set that this CPU has.
const KernelTable& best_kernel_table() noexcept;

// Each is defined by a file of its own, kernels_<name>.cc; kernel_table knows which may be used.
extern const KernelTable kernel_table_baseline;
#if defined(__x86_64__)
extern const KernelTable kernel_table_avx2;
extern const KernelTable kernel_table_avx512;
#endif

// The rows of long double and what is made of it, which has no vectors: the same for every instruction set.
extern const KernelRows long_double_rows;
extern const KernelRows complex_long_double_rows;
extern const KernelRows long_double_int_rows;

}  // namespace hps

#endif
