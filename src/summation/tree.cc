// SPDX-License-Identifier: BSD-3-Clause
#include "summation/tree.h"

#include <cstring>
#include <utility>
#include <vector>

#include "summation/fpmode.h"

namespace hps {

namespace {

using Value = Expression::Value;

Value join_switch(const Layout::Switch& members, Expression& expression) {
  std::vector<Value> values;
  for (std::uint32_t member : members.members) values.push_back(expression.leaf(member));
  return expression.join(values);
}

Value join_node(const Layout::Node& node, Expression& expression) {
  std::vector<Value> values;
  for (const Layout::Switch& members : node.switches) values.push_back(join_switch(members, expression));
  return expression.join(values);
}

// What leaves a node is rounded, where the program wants to know of rounding.
Program compile(const Layout& layout, std::uint32_t leaves, Rounding rounding) {
  Expression expression;
  std::vector<Value> values;
  for (const Layout::Node& node : layout.nodes) {
    const Value value = join_node(node, expression);
    values.push_back(rounding == Rounding::as_said ? expression.round(value) : value);
  }
  return Program(expression, expression.join(values), leaves, rounding);
}

std::uint32_t members_of(const Layout& layout) {
  std::size_t members = 0;
  for (const Layout::Node& node : layout.nodes) {
    for (const Layout::Switch& under : node.switches) members += under.members.size();
  }
  return static_cast<std::uint32_t>(members);
}

// The layout of `node` alone, its members numbered in layout order.
Layout layout_of_node(Layout::Node node) {
  std::uint32_t next = 0;
  for (Layout::Switch& under : node.switches) {
    for (std::uint32_t& member : under.members) member = next++;
  }
  return {{std::move(node)}};
}

}  // namespace

Tree::Tree(const Layout& layout) : leaves_(members_of(layout)) {
  if (leaves_ == 1) return;
  program_ = compile(layout, leaves_, Rounding::none);
  wide_program_ = compile(layout, leaves_, Rounding::as_said);
}

Tree::Tree(const Layout::Node& node) : Tree(layout_of_node(node)) {}

void Tree::evaluate(const KernelTable& kernels, const Reduction& reduction, const void* const* inputs,
                    void* output) const noexcept {
  if (reduction.elements == 0) return;
  const std::size_t element_bytes = datatype_bytes(reduction.type);
  if (leaves_ == 1) {
    std::memcpy(output, inputs[0], reduction.elements * element_bytes);
    return;
  }
  const FpMode default_mode;
  const KernelRow& row = kernels.row(reduction.type, reduction.op);
  (row.wide == nullptr ? program_ : wide_program_).run(row, inputs, output, reduction.elements, element_bytes);
}

void combine(Datatype type, Op op, const void* left, const void* right, void* output, std::size_t elements) noexcept {
  const std::byte* const inputs[] = {static_cast<const std::byte*>(left), static_cast<const std::byte*>(right)};
  const FpMode default_mode;
  const KernelRow& row = best_kernel_table().row(type, op);
  const Kernel kernel = row.wide == nullptr ? row.of(2) : row.wide->combine[0];
  kernel(inputs, static_cast<std::byte*>(output), elements * datatype_bytes(partial_datatype(type)));
}

namespace {

// A copy where there is no kernel for it.
void convert(Kernel kernel, const void* from, void* to, std::size_t bytes) noexcept {
  if (kernel == nullptr) {
    std::memcpy(to, from, bytes);
    return;
  }
  const auto* input = static_cast<const std::byte*>(from);
  const FpMode default_mode;
  kernel(&input, static_cast<std::byte*>(to), bytes);
}

// Those that widen and round one vector are the same for every operation.
const WideKernels* wide_kernels(Datatype type) noexcept {
  return partial_datatype(type) == type ? nullptr : best_kernel_table().row(type, Op::sum).wide;
}

}  // namespace

void to_partial(Datatype type, const void* input, void* output, std::size_t elements) noexcept {
  const WideKernels* wide = wide_kernels(type);
  convert(wide == nullptr ? nullptr : wide->widen[0], input, output, elements * datatype_bytes(type));
}

void from_partial(Datatype type, const void* input, void* output, std::size_t elements) noexcept {
  const WideKernels* wide = wide_kernels(type);
  convert(wide == nullptr ? nullptr : wide->round, input, output, elements * datatype_bytes(partial_datatype(type)));
}

}  // namespace hps
