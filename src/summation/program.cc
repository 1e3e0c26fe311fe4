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

Expression::Value Expression::round(Value value) {
  if (nodes_[value].leaves == 1) return value;  // an element already
  nodes_.push_back({.left = value, .rounded = true});
  return static_cast<Value>(nodes_.size() - 1);
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
  using Form = Program::Form;
  using Step = Program::Step;

  Compiler(const Expression& expression, Program& program) : nodes_(expression.nodes_), program_(program) {}

  // Appends the steps that leave `value`, which is no leaf, in `slot`, as an element.
  void emit(Value value, std::uint32_t slot) {
    if (nodes_[value].rounded) value = nodes_[value].left;
    const std::vector<Value> operands = operands_of(value);
    if (all_elements(operands)) return emit_step(Form::elements, operands, slot);
    emit_wide(operands, slot);
    append({.form = Form::round, .count = 1, .slot = slot}, {name_of_slot(slot)});
  }

 private:
  using Names = std::vector<std::uint32_t>;

  std::uint32_t name_of_slot(std::uint32_t slot) const { return program_.leaves_ + slot; }

  void append(Step step, const Names& operands) {
    step.first = static_cast<std::uint32_t>(program_.operands_.size());
    program_.steps_.push_back(step);
    program_.operands_.insert(program_.operands_.end(), operands.begin(), operands.end());
    program_.slots_ = std::max(program_.slots_, step.slot + 1);
  }

  // One step over operands that are elements: leaves, and what is computed in slots before. A kernel that widens cannot
  // work in place.
  void emit_step(Form form, const std::vector<Value>& operands, std::uint32_t slot) {
    Names names;
    std::uint32_t next = form == Form::widen ? slot + 1 : slot;
    for (Value operand : operands) {
      if (is_leaf(operand)) {
        names.push_back(nodes_[operand].leaf);
        continue;
      }
      emit(operand, next);
      names.push_back(name_of_slot(next++));
    }
    append({.form = form, .count = static_cast<std::uint32_t>(names.size()), .slot = slot}, names);
  }

  // Appends the steps that leave a wide value in `slot`.
  void emit_wide(const std::vector<Value>& operands, std::uint32_t slot) {
    if (all_elements(operands)) return emit_step(Form::widen, operands, slot);
    Names names;
    std::uint32_t next = slot;
    for (Value operand : operands) {
      const bool is_one = is_element(operand);
      emit_wide(is_one ? std::vector<Value>{operand} : operands_of(operand), next);
      names.push_back(name_of_slot(next++));
    }
    append({.form = Form::combine, .count = static_cast<std::uint32_t>(names.size()), .slot = slot}, names);
  }

  static constexpr int max_depth = 4;  // of a tree of max_operands
  static_assert(1u << max_depth == max_operands);

  bool is_leaf(Value value) const { return nodes_[value].leaves == 1 && !nodes_[value].rounded; }
  // Whether a value is narrow when a step reads it.
  bool is_element(Value value) const { return program_.rounding_ == Rounding::none || nodes_[value].leaves == 1; }
  bool all_elements(const std::vector<Value>& values) const {
    return std::all_of(values.begin(), values.end(), [this](Value value) { return is_element(value); });
  }
  bool is_one_step(Value value) const { return nodes_[value].canonical && nodes_[value].leaves <= max_operands; }

  // The operands of the step that computes `value`: its leaves where they suit one kernel, else what lies at the
  // greatest depth at which the tree above has the canonical shape.
  std::vector<Value> operands_of(Value value) const {
    std::vector<Value> operands;
    if (is_one_step(value)) {
      collect_leaves(value, operands);
      return operands;
    }
    int depth = max_depth;
    while (canonical_width(value, depth) == 0) --depth;
    cut(value, depth, operands);
    return operands;
  }

  void collect_leaves(Value value, std::vector<Value>& leaves) const {
    if (nodes_[value].leaves == 1) return leaves.push_back(value);
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

Program::Program(const Expression& expression, Expression::Value root, std::uint32_t leaves, Rounding rounding)
    : leaves_(leaves), rounding_(rounding) {
  Compiler(expression, *this).emit(root, 0);
  // At most 15 slots, and one to widen from, for every 4 levels of a tree that has at most 3 * 33 of them.
  assert(slots_ <= scratch_bytes / block_alignment);
}

void Program::run(const KernelRow& kernels, const void* const* inputs, void* output, std::size_t elements,
                  std::size_t element_bytes) const noexcept {
  alignas(block_alignment) std::byte scratch[scratch_bytes];
  const std::size_t widening = rounding_ == Rounding::none ? 1 : 2;
  const std::size_t bytes = elements * element_bytes;
  const std::size_t slot_bytes = std::min(max_block_bytes, scratch_bytes / slots_ / block_alignment * block_alignment);
  const std::size_t block_bytes = steps_.size() == 1 ? bytes : slot_bytes / widening;
  for (std::size_t at = 0; at < bytes; at += block_bytes) {
    const std::size_t length = std::min(block_bytes, bytes - at);
    for (const Step& step : steps_) {
      const std::byte* operands[max_operands];
      for (std::uint32_t i = 0; i < step.count; ++i) {
        const std::uint32_t operand = operands_[step.first + i];
        operands[i] = operand < leaves_ ? static_cast<const std::byte*>(inputs[operand]) + at
                                        : scratch + (operand - leaves_) * slot_bytes;
      }
      const bool last = &step == &steps_.back();
      std::byte* const target = last ? static_cast<std::byte*>(output) + at : scratch + step.slot * slot_bytes;
      const bool from_wide = step.form == Form::combine || step.form == Form::round;
      kernel_of(step, kernels)(operands, target, from_wide ? length * widening : length);
    }
  }
}

Kernel Program::kernel_of(const Step& step, const KernelRow& kernels) noexcept {
  switch (step.form) {
    case Form::elements:
      return kernels.of(step.count);
    case Form::widen:
      return kernels.wide->widen[step.count - 1];
    case Form::combine:
      return kernels.wide->combine[step.count - 2];
    case Form::round:
      return kernels.wide->round;
  }
  return nullptr;
}

}  // namespace hps
