// SPDX-License-Identifier: BSD-3-Clause
// The canonical tree, written from the words of src/summation/tree.h and sharing no code with the library.
#ifndef HPS_TESTS_REFERENCE_TREE_H
#define HPS_TESTS_REFERENCE_TREE_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "plan/layout.h"
#include "reference/elements.h"

namespace hps::reference {

// One level of the tree over `values`, with `join(left, right)` at every node.
template <class Value, class Join>
Value canonical(std::vector<Value> values, const Join& join) {
  const std::size_t pairs = values.size() - std::bit_floor(values.size());
  std::vector<Value> next;
  for (std::size_t i = 0; i < 2 * pairs; i += 2) next.push_back(join(values[i], values[i + 1]));
  next.insert(next.end(), values.begin() + static_cast<std::ptrdiff_t>(2 * pairs), values.end());
  while (next.size() > 1) {
    std::vector<Value> halved;
    for (std::size_t i = 0; i < next.size(); i += 2) halved.push_back(join(next[i], next[i + 1]));
    next = std::move(halved);
  }
  return next.front();
}

// The whole tree of a layout; values[member] is a member's contribution. What leaves a node of several members goes
// through `round`.
template <class Value, class Join, class Round>
Value tree(const Layout& layout, const std::vector<Value>& values, const Join& join, const Round& round) {
  std::vector<Value> nodes;
  for (const Layout::Node& node : layout.nodes) {
    std::vector<Value> switches;
    std::size_t node_members = 0;
    for (const Layout::Switch& under : node.switches) {
      std::vector<Value> members;
      for (std::uint32_t member : under.members) members.push_back(values[member]);
      node_members += members.size();
      switches.push_back(canonical(members, join));
    }
    nodes.push_back(canonical(switches, join));
    if (node_members > 1) nodes.back() = round(nodes.back());
  }
  return canonical(nodes, join);
}

// values[member][i] -> result[i]. Whole vectors go through the tree: one at a time, elements would cost an allocation
// at every node, which is minutes under AddressSanitizer.
template <class T>
std::vector<T> evaluate(const Layout& layout, Op op, const std::vector<std::vector<T>>& values) {
  if (values.size() == 1) return values[0];  // copied
  using Vector = std::vector<Partial<T>>;
  // std::vector<bool> has no elements to speak of.
  std::vector<Vector> partials;
  for (const std::vector<T>& contribution : values) {
    partials.emplace_back();
    for (const auto& value : contribution) partials.back().push_back(to_partial<T>(value));
  }
  const auto join = [op](Vector left, const Vector& right) {
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = apply<Partial<T>>(op, left[i], right[i]);
    return left;
  };
  const auto round = [](Vector vector) {
    if constexpr (is_half<T>) {
      for (float& value : vector) value = to_float(to_half<T>(value));
    }
    return vector;
  };
  std::vector<T> result;
  for (const auto& value : tree(layout, partials, join, round)) result.push_back(finished<T>(value));
  return result;
}

inline Layout flat_layout(std::uint32_t members) {
  Layout layout;
  for (std::uint32_t i = 0; i < members; ++i) layout.nodes.push_back({{{{i}}}});
  return layout;
}

// sizes[node][switch] members, numbered round robin over the nodes as launchers do ("--map-by node"), so that members
// of a node are not neighbours.
inline Layout round_robin_layout(const std::vector<std::vector<std::uint32_t>>& sizes) {
  Layout layout;
  for (const auto& node : sizes) layout.nodes.push_back({std::vector<Layout::Switch>(node.size())});
  std::uint32_t next = 0;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t node = 0; node < sizes.size(); ++node) {
      for (std::size_t under = 0; under < sizes[node].size(); ++under) {
        std::vector<std::uint32_t>& members = layout.nodes[node].switches[under].members;
        if (members.size() == sizes[node][under]) continue;
        members.push_back(next++);
        more = true;
      }
    }
  }
  return layout;
}

}  // namespace hps::reference

#endif
