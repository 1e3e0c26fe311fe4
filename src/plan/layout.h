// SPDX-License-Identifier: BSD-3-Clause
// Layout: where the members of a group sit. It alone fixes the canonical summation tree, so it must be the same on
// every rank.
#ifndef HPS_SRC_PLAN_LAYOUT_H
#define HPS_SRC_PLAN_LAYOUT_H

#include <cstdint>
#include <vector>

namespace hps {

// Members are named by their index in the group, 0 .. members-1; every member stands in exactly one switch. Nodes are
// ordered by their lowest member, switches by theirs, members ascend.
struct Layout {
  struct Switch {
    std::vector<std::uint32_t> members;
    bool operator==(const Switch&) const = default;
  };
  struct Node {
    std::vector<Switch> switches;
    bool operator==(const Node&) const = default;
  };
  std::vector<Node> nodes;
  bool operator==(const Layout&) const = default;
};

// Where one member stands.
struct MemberPlace {
  std::uint32_t node = 0;                   // its node, among the nodes
  std::vector<std::uint32_t> node_members;  // of that node, in layout order
  std::vector<std::uint32_t> leaders;       // by node: its first member
};
MemberPlace place_of(std::uint32_t member, const Layout& layout);

// The layout of members of which member i sits on node node_of[i] (any numbering), all under one switch a node.
Layout layout_from_nodes(const std::vector<std::uint32_t>& node_of);

// Whether each of 0 .. members-1 stands in exactly one switch, no switch or node is empty, and the order is as said
// above.
bool is_valid(const Layout& layout, std::uint32_t members) noexcept;

}  // namespace hps

#endif
