// SPDX-License-Identifier: BSD-3-Clause
// Header: the 32 bytes before every message, little-endian (0.2 % of a 16 KB chunk). What never changes between the
// messages of a group is named by a handle that JOIN handed out. Pure: decode() trusts nothing.
//
//    byte  0  version
//          1  type
//          2  collective
//          3  datatype
//          4  operation
//          5  bit 0: after this call the group's plan is looked at again; the others are zero
//          6  plan number (16 bits)
//          8  token of the receiving process: keeps strays out
//         12  handle: at an owner (group, member), at a member its group
//         16  sequence number of the call in its group
//         20  chunk; of an exchange its step and source; of messages about joining, leaving, credits and cancelled
//         calls
//             the owner's index; of others the sender
//         24  count: elements of the whole call
#ifndef HPS_SRC_WIRE_HEADER_H
#define HPS_SRC_WIRE_HEADER_H

#include <array>
#include <cstdint>
#include <string>

#include "util/status.h"
#include "util/types.h"

namespace hps::wire {

inline constexpr std::uint8_t version = 3;
inline constexpr std::size_t header_bytes = 32;

enum class MessageType : std::uint8_t {
  join,        // member -> owner: let me push to you. Payload: Join
  join_reply,  // owner -> member: here is your handle. Payload: JoinReply
  leave,       // member -> owner: I shall push no more
  leave_reply,
  push,          // member -> owner: a contribution to a chunk
  result,        // owner -> member: the sum of a chunk
  credit,        // owner -> member: so many pushes may wait at me (in count)
  exchange,      // member -> member: a step of an algorithm that no owner takes part in
  abort,         // to a member: this call fails. Payload: the reason in words
  cancel,        // member -> owner: this call fails; forget it. Payload: as of abort
  cancel_reply,  // owner -> member: nothing of that call is here any more
  revoke,        // owner -> member: the handle in count is void, and pushes without a result are dropped; join again
  inquiry,  // member -> member: have you come to this call? Payload: Sender. Answered by report, or by abort where the
            // receiver has left the group without coming to it
  report,   // to the referee of a call that stands still: the member in chunk has come to it, with this signature,
            // or has not (collective none). Payload: Sender
  ping,     // are you there? Answered by pong. The sender is in chunk
  pong,
  shutdown,  // the sender, a worker (in chunk), is done; count 1: so are all. Payload: why no more is waited for, as of
             // abort; empty where nobody was lost
  goodbye,   // the sender (in chunk) ends, and its connections with it
  goodbye_reply,
  measure,   // send a train, so that the rate of a link is known. Payload: MeasureOrder. The sender is in chunk
  train,     // one of the messages whose arrival is timed. Payload: TrainHead and filler. The sender is in chunk
  measured,  // to the group of who gave the order. Payload: Measured. The sender is in chunk
  new_plan,  // member 0 -> member: the plan from the call after this one on. Payload: GroupSpec; empty: as before.
             // member -> member 0: this rank waits for it
};
inline constexpr std::uint8_t message_types = 23;

enum class Collective : std::uint8_t { none, allreduce_hetero };
inline constexpr std::uint8_t collectives = 2;

// What all ranks of a call must agree on.
struct Signature {
  Collective collective = Collective::none;
  Datatype datatype = Datatype::float32;
  Op op = Op::sum;
  std::uint64_t count = 0;

  bool operator==(const Signature&) const = default;
};

// "HPS_Allreduce_hetero of 100 float32 (sum)"
std::string describe(const Signature& signature);

// What differs, in words: "count 100 differs from 101".
std::string difference(const Signature& mine, const Signature& other);

// The error of two ranks whose calls of this number differ: "rank 3: count 100 differs from 101 on rank 0 in
// HPS_Allreduce_hetero, call 5". It speaks of `rank`.
Status mismatch(Rank rank, const Signature& its, Rank other, const Signature& others, std::uint32_t sequence);

struct Header {
  MessageType type = MessageType::join;
  std::uint16_t plan = 0;
  std::uint32_t token = 0;
  std::uint32_t handle = 0;
  std::uint32_t sequence = 0;
  std::uint32_t chunk = 0;
  bool renews = false;  // of pushes and results: the group's plan is looked at again after the call
  Signature signature;

  bool operator==(const Header&) const = default;
};

using HeaderBytes = std::array<std::byte, header_bytes>;

HeaderBytes encode(const Header& header) noexcept;

// False, and *header as it was, where the bytes are not a header of this version with values in range.
bool decode(ConstBytes bytes, Header* header) noexcept;

}  // namespace hps::wire

#endif
