// SPDX-License-Identifier: BSD-3-Clause
// Kernels: the loops that combine up to 16 vectors into one, in one pass, with the intermediate values in registers.
// They are compiled for each instruction set in the list below and chosen by what the CPU has (explicitly, not by
// ifunc, which runs before the sanitizers are ready). The same inputs give the same bits at every level:
//  * the order of combination is canonical_left's;
//  * integers wrap;
//  * a floating-point result that is not a number is the canonical quiet NaN: which operand's payload survives an
//    addition is the compiler's choice otherwise;
//  * MIN and MAX are not a number if any operand is not, and hold -0 to be less than +0.
#ifndef HPS_SRC_SUMMATION_KERNELS_H
#define HPS_SRC_SUMMATION_KERNELS_H

#include <cstddef>
#include <cstdint>

#include "util/types.h"

namespace hps {

// The most vectors that one kernel combines.
inline constexpr std::uint32_t max_operands = 16;

// output[i] = the canonical tree over inputs[0][i] .. inputs[operands-1][i], for i < elements. Nothing need be aligned.
// The output may be one of the inputs, but not overlap one otherwise.
using Kernel = void (*)(const std::byte* const* inputs, std::byte* output, std::size_t elements) noexcept;

// The kernels of one datatype and operation.
struct KernelRow {
  Kernel kernels[max_operands - 1];
  Kernel of(std::uint32_t operands) const noexcept { return kernels[operands - 2]; }  // 2 .. max_operands
};

struct KernelRows {  // of one datatype, by operation
  KernelRow ops[op_count];
};

struct KernelTable {
  KernelRows types[datatype_count];
  const KernelRow& row(Datatype type, Op op) const noexcept {
    return types[static_cast<std::size_t>(type)].ops[static_cast<std::size_t>(op)];
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

}  // namespace hps

#endif
