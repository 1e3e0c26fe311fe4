// SPDX-License-Identifier: BSD-3-Clause
#include "summation/program.h"

#include <algorithm>
#include <cassert>

#include "summation/canonical.h"

namespace hps {

namespace {

// Two slots of the largest block and what is read beside them fit a first-level cache of 32 KB; with many slots blocks
// get smaller. The scratch lies on the stack.
constexpr std::size_t max_block_bytes = 4096;
constexpr std::size_t scratch_bytes = 24576;
constexpr std::size_t block_alignment = 64;

}  // namespace

Expression::Value Expression::leaf(std::uint32_t index) {
  nodes_.push_back({.leaf = index});
  return static_cast<Value>(nodes_.size() - 1);
}

Expression::Value Expression::join(const std::vector<Value>& operands) {
  return join_range(operands.data(), static_cast<std::uint32_t>(operands.size()));
}

Expression::Value Expression::join_range(const Value* operands, std::uint32_t count) {
  if (count == 1) return operands[0];
  const std::uint32_t on_left = canonical_left(count);
  const Value left = join_range(operands, on_left);
  const Value right = join_range(operands + on_left, count - on_left);
  const Node& a = nodes_[left];
  const Node& b = nodes_[right];
  const std::uint32_t leaves = a.leaves + b.leaves;
  const bool canonical = a.canonical && b.canonical && canonical_left(leaves) == a.leaves;
  nodes_.push_back({.left = left, .right = right, .leaves = leaves, .canonical = canonical});
  return static_cast<Value>(nodes_.size() - 1);
}

// Cuts an expression into kernels' shapes. A slot is free again once its reader has run, so slots are a stack: the
// operands of a step lie in consecutive slots from `slot` on, and its result takes the first of them.
class Compiler {
 public:
  using Value = Expression::Value;

  Compiler(const Expression& expression, Program& program) : nodes_(expression.nodes_), program_(program) {}

  // Appends the steps that leave `value` in `slot`.
  void emit(Value value, std::uint32_t slot) {
    std::vector<Value> operands;
    collect_operands(value, operands);
    std::vector<std::uint32_t> names;
    std::uint32_t next = slot;
    for (Value operand : operands) {
      if (is_leaf(operand)) {
        names.push_back(nodes_[operand].leaf);
        continue;
      }
      emit(operand, next);
      names.push_back(program_.leaves_ + next);
      ++next;
    }
    program_.steps_.push_back({.first = static_cast<std::uint32_t>(program_.operands_.size()),
                               .count = static_cast<std::uint32_t>(names.size()),
                               .slot = slot});
    program_.operands_.insert(program_.operands_.end(), names.begin(), names.end());
    program_.slots_ = std::max({program_.slots_, slot + 1, next});
  }

 private:
  static constexpr int max_depth = 4;  // of a tree of max_operands
  static_assert(1u << max_depth == max_operands);

  bool is_leaf(Value value) const { return nodes_[value].leaves == 1; }
  bool is_one_step(Value value) const { return nodes_[value].canonical && nodes_[value].leaves <= max_operands; }

  // The operands of the step that computes `value`: its leaves where they suit one kernel, else what lies at the
  // greatest depth at which the tree above has the canonical shape.
  void collect_operands(Value value, std::vector<Value>& operands) const {
    if (is_one_step(value)) return collect_leaves(value, operands);
    int depth = max_depth;
    while (canonical_width(value, depth) == 0) --depth;
    cut(value, depth, operands);
  }

  void collect_leaves(Value value, std::vector<Value>& leaves) const {
    if (is_leaf(value)) return leaves.push_back(value);
    collect_leaves(nodes_[value].left, leaves);
    collect_leaves(nodes_[value].right, leaves);
  }

  // Subtrees of one step each are not cut further.
  bool is_operand(Value value, int depth) const { return depth == 0 || is_one_step(value); }

  // How many operands cut() finds, 0 where the tree above them is not the canonical one. Never 0 at depth 1.
  std::uint32_t canonical_width(Value value, int depth) const {
    if (is_operand(value, depth)) return 1;
    const std::uint32_t left = canonical_width(nodes_[value].left, depth - 1);
    const std::uint32_t right = canonical_width(nodes_[value].right, depth - 1);
    if (left == 0 || right == 0 || canonical_left(left + right) != left) return 0;
    return left + right;
  }

  void cut(Value value, int depth, std::vector<Value>& operands) const {
    if (is_operand(value, depth)) return operands.push_back(value);
    cut(nodes_[value].left, depth - 1, operands);
    cut(nodes_[value].right, depth - 1, operands);
  }

  const std::vector<Expression::Node>& nodes_;
  Program& program_;
};

Program::Program(const Expression& expression, Expression::Value root, std::uint32_t leaves) : leaves_(leaves) {
  Compiler(expression, *this).emit(root, 0);
  // At most 15 slots for every 4 levels of a tree that has at most 3 * 33 of them.
  assert(slots_ <= scratch_bytes / block_alignment);
}

void Program::run(const KernelRow& kernels, const void* const* inputs, void* output, std::size_t elements,
                  std::size_t element_bytes) const noexcept {
  alignas(block_alignment) std::byte scratch[scratch_bytes];
  const std::size_t bytes = elements * element_bytes;
  const std::size_t slot_bytes = std::min(max_block_bytes, scratch_bytes / slots_ / block_alignment * block_alignment);
  const std::size_t block_bytes = steps_.size() == 1 ? bytes : slot_bytes;
  for (std::size_t at = 0; at < bytes; at += block_bytes) {
    const std::size_t block_elements = std::min(block_bytes, bytes - at) / element_bytes;
    for (const Step& step : steps_) {
      const std::byte* operands[max_operands];
      for (std::uint32_t i = 0; i < step.count; ++i) {
        const std::uint32_t operand = operands_[step.first + i];
        operands[i] = operand < leaves_ ? static_cast<const std::byte*>(inputs[operand]) + at
                                        : scratch + (operand - leaves_) * slot_bytes;
      }
      const bool last = &step == &steps_.back();
      kernels.of(step.count)(operands, last ? static_cast<std::byte*>(output) + at : scratch + step.slot * slot_bytes,
                             block_elements);
    }
  }
}

}  // namespace hps
