// SPDX-License-Identifier: BSD-3-Clause
// Tree: the canonical order in which the contributions of a group are combined. It follows from the Layout alone, so
// results are bitwise the same whoever evaluates it, and whenever.
//
// At every level (members under a switch, switches of a node, nodes) m operands are combined as recursive doubling
// would: let p be the largest power of two <= m; the first 2(m-p) operands are combined in pairs, which leaves p
// operands; these are combined in a balanced binary tree (neighbours first). The operand of lower index is always the
// left one.
//
// Sums of 16-bit floats are kept as floats inside a node, and again between nodes, and rounded once at the end of each.
//
// So that every evaluation of the tree gives the same bits, whole or node by node, results are those that
// summation/kernels.h lists; with one leaf, which is copied, the contribution's own.
#ifndef HPS_SRC_SUMMATION_TREE_H
#define HPS_SRC_SUMMATION_TREE_H

#include <cstddef>
#include <cstdint>

#include "plan/layout.h"
#include "summation/program.h"
#include "util/types.h"

namespace hps {

class Tree {
 public:
  // `layout` must be valid for its number of members.
  explicit Tree(const Layout& layout);
  // The part of the tree that one node's members make; leaf i is the node's i-th member in layout order.
  explicit Tree(const Layout::Node& node);

  std::uint32_t leaves() const noexcept { return leaves_; }

  // output[i] = the tree over inputs[leaf][i], for i < elements; inputs[leaf] is the contribution of member `leaf`. One
  // pass: leaves() reads and one write an element. The output overlaps no input; buffers need no alignment. Runs with
  // rounding to nearest and denormals on, and restores the caller's mode. One leaf: a copy.
  void evaluate(Datatype type, Op op, const void* const* inputs, void* output, std::size_t elements) const noexcept {
    evaluate(best_kernel_table(), {type, op, elements}, inputs, output);
  }

  struct Reduction {
    Datatype type;
    Op op;
    std::size_t elements;
  };
  // The same with the kernels of a given instruction set: for tests and benchmarks.
  void evaluate(const KernelTable& kernels, const Reduction& reduction, const void* const* inputs,
                void* output) const noexcept;

 private:
  std::uint32_t leaves_ = 0;
  Program program_;       // both empty with one leaf
  Program wide_program_;  // for datatypes with wide intermediate values
};

// For those who walk the tree between nodes step by step: what they exchange are elements of partial_datatype(type).

// output[i] = left[i] op right[i], partial results all. The output may be one of the inputs.
void combine(Datatype type, Op op, const void* left, const void* right, void* output, std::size_t elements) noexcept;

// Makes a partial result of a node's, and elements of the partial result at the root. Input and output do not overlap.
void to_partial(Datatype type, const void* input, void* output, std::size_t elements) noexcept;
void from_partial(Datatype type, const void* input, void* output, std::size_t elements) noexcept;

}  // namespace hps

#endif
