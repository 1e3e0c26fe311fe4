// SPDX-License-Identifier: BSD-3-Clause
// A Service as a state machine, driven by a script: bytes that stand for events. Some are what honest members and the
// process itself do, some are messages that no honest peer sends, in any order. While it runs and at its end:
//   * every chunk that has all its contributions is summed, to the bits of the serial reference, and told to all;
//   * where no stranger may have kept memory, all honest calls end, however little there is: members whose leave was
//     revoked ask again, and push again what has no result;
//   * what is reserved stays within the budget, and the memory held within what is reserved and a little a group and an
//     event (measured where AddressSanitizer is);
//   * once the honest members have left and all is sent, their groups and memory are gone; once all peers are lost, so
//     are everybody's.
// The script counts on the public interface of Service alone.
#ifndef HPS_TESTS_FUZZ_SERVICE_SCRIPT_H
#define HPS_TESTS_FUZZ_SERVICE_SCRIPT_H

#include <cstdint>
#include <string>
#include <vector>

#include "util/types.h"

namespace hps::fuzz {

// The first byte of a script chooses the budget and the threads, the next four the shapes of its groups. Then come
// events, each a byte that names it and the bytes that its comment lists. A group is one of four places; a member is
// taken modulo the group's.
enum class Event : std::uint8_t {
  // What honest peers and this process do; where they would not do it now, nothing happens.
  join,              // group, member, whether with the description
  push,              // group, member: the first chunk that it has not pushed
  push_any,          // group, member, which of those it has not pushed
  post,              // group
  next_call,         // group, signature
  whole_call,        // group: all pushes and the post that the present call still needs
  leave,             // group, member
  attach,            // group
  detach,            // group
  cancel_by_member,  // group, member
  cancel_here,       // group: withdraw, and cancel
  withdraw,          // group
  peer_failed,       // rank
  collect,
  sum_ready,
  send_mode,    // SendMode
  complete,     // which of the results under way, whether well
  new_group,    // group, shape: where the last of this place is over
  join_all,     // group: all members that have not, with the description
  report_lost,  // group, member, another member, which it has lost
  // What they do not do.
  bad_push,    // group, member, BadPush, number (4 bytes)
  bad_join,    // group, member, BadJoin, number (4 bytes)
  bad_leave,   // handle (4 bytes)
  bad_cancel,  // group, member, sequence (4 bytes), length of a payload, payload
  raw,         // a header (32 bytes), length of a payload, payload
};
inline constexpr std::uint32_t events = 25;

enum class BadPush : std::uint8_t { handle, plan, length, chunk, duplicate, over, far, signature, beyond_credits };
inline constexpr std::uint32_t bad_pushes = 9;
enum class BadJoin : std::uint8_t {
  unknown_group,
  hash,
  member,
  again,
  description,
  other_id,
  chunk_bytes,
  truncated,
  flood
};
inline constexpr std::uint32_t bad_joins = 9;

struct ScriptReport {
  std::string wrong;  // the first thing that was; empty where nothing was
  std::uint64_t events = 0;
  std::uint64_t results = 0;   // of events, that were as they should be
  std::uint64_t rejected = 0;  // messages
  std::uint64_t revoked = 0;   // times that a group gave its memory to another
};

ScriptReport run_service_script(ConstBytes script);

}  // namespace hps::fuzz

#endif
