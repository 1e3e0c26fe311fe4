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

Value join_layout(const Layout& layout, Expression& expression) {
  std::vector<Value> values;
  for (const Layout::Node& node : layout.nodes) values.push_back(join_node(node, expression));
  return expression.join(values);
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
  Expression expression;
  const Value root = join_layout(layout, expression);
  if (leaves_ > 1) program_ = Program(expression, root, leaves_);
}

Tree::Tree(const Layout::Node& node) : Tree(layout_of_node(node)) {}

void Tree::evaluate(const KernelTable& kernels, const Operation& operation, const void* const* inputs,
                    void* output) const noexcept {
  if (operation.elements == 0) return;
  const std::size_t element_bytes = datatype_bytes(operation.type);
  if (leaves_ == 1) {
    std::memcpy(output, inputs[0], operation.elements * element_bytes);
    return;
  }
  const FpMode default_mode;
  program_.run(kernels.row(operation.type, operation.op), inputs, output, operation.elements, element_bytes);
}

void combine(Datatype type, Op op, const void* left, const void* right, void* output, std::size_t elements) noexcept {
  const std::byte* const inputs[] = {static_cast<const std::byte*>(left), static_cast<const std::byte*>(right)};
  const FpMode default_mode;
  best_kernel_table().row(type, op).of(2)(inputs, static_cast<std::byte*>(output), elements);
}

bool op_supports(Op op, Datatype type) noexcept { return best_kernel_table().row(type, op).of(2) != nullptr; }

}  // namespace hps
