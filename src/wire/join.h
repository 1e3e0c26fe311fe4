// SPDX-License-Identifier: BSD-3-Clause
// The payloads of join and join_reply. The header's chunk names the owner's index in the plan, in both; a join's
// sequence the call that is to be pushed, 0 where none is yet.
#ifndef HPS_SRC_WIRE_JOIN_H
#define HPS_SRC_WIRE_JOIN_H

#include <cstdint>
#include <string>
#include <vector>

#include "wire/group_spec.h"

namespace hps::wire {

// A member asks an owner to serve it. Member 0 sends the spec, the others only its hash.
struct Join {
  GroupId id;
  std::uint32_t member = 0;        // the sender's index in the group
  std::uint32_t reply_handle = 0;  // names the group at the sender
  std::uint64_t spec_hash = 0;     // of the encoded spec
  std::vector<std::byte> spec;     // encoded, or empty
};

// The owner's answer, once it has the memory; `error` is empty where the member may push. Every JOIN has one; that to a
// second one has handle 0, for the first has been answered, or is withdrawn.
struct JoinReply {
  std::uint32_t handle = 0;   // names the group and the member at the owner
  std::uint32_t credits = 0;  // pushes that the member may have waiting there
  Rank owner = no_rank;       // who answers: the member may have left the group meanwhile, and must say so
  std::string error;
};

std::vector<std::byte> encode(const Join& join);
std::vector<std::byte> encode(const JoinReply& reply);

// False, and the output as it was, where the bytes are not whole.
bool decode(ConstBytes bytes, Join* join);
bool decode(ConstBytes bytes, JoinReply* reply);

}  // namespace hps::wire

#endif
