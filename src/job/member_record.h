// SPDX-License-Identifier: BSD-3-Clause
// MemberRecord: what every rank tells the others at set-up. Gathered with MPI as plain bytes.
#ifndef HPS_SRC_JOB_MEMBER_RECORD_H
#define HPS_SRC_JOB_MEMBER_RECORD_H

#include <mpi.h>

#include <type_traits>
#include <vector>

#include "job/runtime.h"

namespace hps {

// A node's number: the lowest world rank that MPI_Comm_split_type found on it, or a hash of HPS_NODE with the highest
// bit set.
using NodeId = std::uint64_t;

struct MemberRecord {
  Rank rank = no_rank;
  Role role = Role::worker;
  std::uint16_t wire_version = 0;
  std::uint32_t token = 0;
  std::uint32_t handle = 0;   // of the group at this rank
  std::uint32_t counter = 0;  // groups that this rank has begun
  std::uint32_t address_bytes = 0;
  NodeId node = 0;
  double rate = 0;                 // bytes a second; 0 = not known
  std::uint64_t serve_memory = 0;  // bytes
};
static_assert(std::is_trivially_copyable_v<MemberRecord>);

// This rank's own, but for node, handle and counter.
MemberRecord own_record(Runtime& runtime);

// The node of this rank: HPS_NODE, or what shares memory in `comm`. Collective over comm.
Status find_node(const Runtime& runtime, MPI_Comm comm, NodeId* node);

// Everyone's record, by rank of comm. Collective over comm; does not block other threads' set-ups.
Status gather_records(Runtime& runtime, MPI_Comm comm, const MemberRecord& own, std::vector<MemberRecord>* all);

// Everyone's transport address, made known to transport and engine. Collective over comm.
Status exchange_addresses(Runtime& runtime, MPI_Comm comm, const std::vector<MemberRecord>& records);

}  // namespace hps

#endif
