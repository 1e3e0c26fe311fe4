// SPDX-License-Identifier: BSD-3-Clause
// GroupSpec: all that an owner must know of a group, and all that its members share. One member sends it, the others
// its hash.
#ifndef HPS_SRC_WIRE_GROUP_SPEC_H
#define HPS_SRC_WIRE_GROUP_SPEC_H

#include <compare>
#include <cstdint>
#include <vector>

#include "plan/layout.h"
#include "plan/plan.h"
#include "util/status.h"

namespace hps::wire {

// Unique in the job: the world rank of the group's first rank, that process's count of groups, and the plan's number:
// owners take a group with another plan for another group.
struct GroupId {
  Rank root = no_rank;
  std::uint32_t counter = 0;
  std::uint16_t plan = 1;
  auto operator<=>(const GroupId&) const = default;
};

struct GroupSpec {
  GroupId id;
  std::vector<Rank> members;  // world ranks of the workers, by member index
  Layout layout;              // of the members
  Plan plan;
};

std::vector<std::byte> encode(const GroupSpec& spec);

// Error: protocol, where the bytes are not a whole and consistent GroupSpec. *spec is set only on success.
Status decode(ConstBytes bytes, GroupSpec* spec);

// 64-bit FNV-1a: tells specs apart that should be equal; no protection against malice.
std::uint64_t hash(ConstBytes bytes) noexcept;

}  // namespace hps::wire

#endif
