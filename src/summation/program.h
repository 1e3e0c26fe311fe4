// SPDX-License-Identifier: BSD-3-Clause
// Program: a tree of combinations, compiled into calls of kernels.
//
// A kernel takes up to max_operands vectors, in the canonical shape. A tree that is one such shape takes one call, with
// nothing stored in between. Any other tree is cut into such shapes, from the root down; it is then evaluated in blocks
// of elements, small enough that the values between the calls stay in the first-level cache. Each intermediate value
// costs a write and a read there: for 1024 leaves, 80 beside the 1024 reads from memory. Nothing of this changes a bit
// of the result.
#ifndef HPS_SRC_SUMMATION_PROGRAM_H
#define HPS_SRC_SUMMATION_PROGRAM_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "summation/kernels.h"

namespace hps {

// A binary tree under construction. Values are named by index.
class Expression {
 public:
  using Value = std::uint32_t;

  // The contribution of a leaf.
  Value leaf(std::uint32_t index);
  // The canonical tree over one or more values.
  Value join(const std::vector<Value>& operands);

 private:
  friend class Compiler;
  struct Node {
    Value left = 0;
    Value right = 0;
    std::uint32_t leaf = 0;  // of a leaf, its index
    std::uint32_t leaves = 1;
    bool canonical = true;  // the subtree is the canonical tree over its leaves
  };

  Value join_range(const Value* operands, std::uint32_t count);

  std::vector<Node> nodes_;
};

class Program {
 public:
  // One call of a kernel, over operands()[first] .. operands()[first + count - 1].
  struct Step {
    std::uint32_t first = 0;
    std::uint32_t count = 0;  // 2 .. max_operands
    std::uint32_t slot = 0;   // where the result goes; the last step's goes to the output
  };

  Program() = default;
  // The program for `root`, which has `leaves` leaves, numbered 0 .. leaves-1, 2 or more.
  Program(const Expression& expression, Expression::Value root, std::uint32_t leaves);

  const std::vector<Step>& steps() const noexcept { return steps_; }
  // A leaf where below leaves, else slot (operand - leaves).
  const std::vector<std::uint32_t>& operands() const noexcept { return operands_; }
  std::uint32_t slots() const noexcept { return slots_; }

  // output[i] = the tree over inputs[leaf][i], for i < elements of `element_bytes` (a power of two up to 64).
  void run(const KernelRow& kernels, const void* const* inputs, void* output, std::size_t elements,
           std::size_t element_bytes) const noexcept;

 private:
  friend class Compiler;

  std::vector<Step> steps_;
  std::vector<std::uint32_t> operands_;
  std::uint32_t leaves_ = 0;
  std::uint32_t slots_ = 0;
};

}  // namespace hps

#endif
