// SPDX-License-Identifier: BSD-3-Clause
// Program: a tree of combinations, compiled into calls of kernels.
//
// A kernel takes up to max_operands vectors, in the canonical shape. A tree that is one such shape takes one call, with
// nothing stored in between. Any other tree is cut into such shapes, from the root down; it is then evaluated in blocks
// of elements, small enough that the values between the calls stay in the first-level cache. Each intermediate value
// costs a write and a read there: for 1024 leaves, 80 beside the 1024 reads from memory. Nothing of this changes a bit
// of the result.
//
// For datatypes with wide intermediate values (WideKernels) an expression says where these are rounded to elements. A
// program made with Rounding::as_said then keeps all others wide. Types that have no wide values do not need that, and
// use a program made with Rounding::none, which may take larger steps.
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
  // The same value, rounded to an element.
  Value round(Value value);

 private:
  friend class Compiler;
  struct Node {
    Value left = 0;
    Value right = 0;
    std::uint32_t leaf = 0;  // of a leaf, its index
    std::uint32_t leaves = 1;
    bool canonical = true;  // the subtree is the canonical tree over its leaves
    bool rounded = false;   // the value of `left`, rounded: what is above sees a leaf
  };

  Value join_range(const Value* operands, std::uint32_t count);

  std::vector<Node> nodes_;
};

enum class Rounding : std::uint8_t { none, as_said };

class Program {
 public:
  // Which kernel a step calls: of elements that gives an element, or one of WideKernels.
  enum class Form : std::uint8_t { elements, widen, combine, round };

  // One call of a kernel, over operands()[first] .. operands()[first + count - 1].
  struct Step {
    Form form = Form::elements;
    std::uint32_t first = 0;
    std::uint32_t count = 0;  // elements and combine: 2 .. max_operands; widen: 1 .. max_operands; round: 1
    std::uint32_t slot = 0;   // where the result goes; the last step's goes to the output
  };

  Program() = default;
  // The program for `root`, which has `leaves` leaves, numbered 0 .. leaves-1, 2 or more. The result is elements.
  Program(const Expression& expression, Expression::Value root, std::uint32_t leaves, Rounding rounding);

  const std::vector<Step>& steps() const noexcept { return steps_; }
  // A leaf where below leaves, else slot (operand - leaves).
  const std::vector<std::uint32_t>& operands() const noexcept { return operands_; }
  std::uint32_t slots() const noexcept { return slots_; }

  // output[i] = the tree over inputs[leaf][i], for i < elements of `element_bytes` (a power of two up to 64). A program
  // made with Rounding::as_said wants kernels with wide intermediate values, of twice the bytes.
  void run(const KernelRow& kernels, const void* const* inputs, void* output, std::size_t elements,
           std::size_t element_bytes) const noexcept;

 private:
  friend class Compiler;

  static Kernel kernel_of(const Step& step, const KernelRow& kernels) noexcept;

  std::vector<Step> steps_;
  std::vector<std::uint32_t> operands_;
  std::uint32_t leaves_ = 0;
  std::uint32_t slots_ = 0;
  Rounding rounding_ = Rounding::none;
};

}  // namespace hps

#endif
