// SPDX-License-Identifier: BSD-3-Clause
#include "plan/layout.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace hps {

Layout layout_from_nodes(const std::vector<std::uint32_t>& node_of) {
  Layout layout;
  // Members are visited in ascending order, so nodes come out ordered by their lowest member.
  std::unordered_map<std::uint32_t, std::size_t> index_of;
  for (std::size_t member = 0; member < node_of.size(); ++member) {
    const auto [entry, is_new] = index_of.try_emplace(node_of[member], layout.nodes.size());
    if (is_new) layout.nodes.push_back({{Layout::Switch{}}});
    layout.nodes[entry->second].switches[0].members.push_back(static_cast<std::uint32_t>(member));
  }
  return layout;
}

MemberPlace place_of(std::uint32_t member, const Layout& layout) {
  MemberPlace place;
  for (const Layout::Node& node : layout.nodes) {
    std::vector<std::uint32_t> members;
    for (const Layout::Switch& under : node.switches)
      members.insert(members.end(), under.members.begin(), under.members.end());
    if (std::find(members.begin(), members.end(), member) != members.end()) {
      place.node = static_cast<std::uint32_t>(place.leaders.size());
      place.node_members = members;
    }
    place.leaders.push_back(members.front());
  }
  return place;
}

namespace {

// Whether something is in every switch, members ascend in it, and switches and nodes follow each other by their lowest
// member. A switch's lowest member is then its first, a node's the first of its first switch.
bool is_ordered(const Layout& layout) noexcept {
  std::int64_t last_node = -1;
  for (const Layout::Node& node : layout.nodes) {
    std::int64_t last_switch = -1;
    for (const Layout::Switch& under : node.switches) {
      if (under.members.empty() || !std::is_sorted(under.members.begin(), under.members.end())) return false;
      if (std::int64_t{under.members.front()} <= last_switch) return false;
      last_switch = under.members.front();
    }
    if (node.switches.empty()) return false;
    const std::int64_t lowest = node.switches.front().members.front();
    if (lowest <= last_node) return false;
    last_node = lowest;
  }
  return true;
}

}  // namespace

bool is_valid(const Layout& layout, std::uint32_t members) noexcept {
  std::uint64_t total = 0;
  for (const Layout::Node& node : layout.nodes) {
    for (const Layout::Switch& under : node.switches) total += under.members.size();
  }
  // Only now is a table of `members` entries known to be no larger than the layout itself.
  if (total != members || !is_ordered(layout)) return false;
  std::vector<bool> seen(members, false);
  for (const Layout::Node& node : layout.nodes) {
    for (const Layout::Switch& under : node.switches) {
      for (const std::uint32_t member : under.members) {
        if (member >= members || seen[member]) return false;
        seen[member] = true;
      }
    }
  }
  return true;
}

}  // namespace hps
