// SPDX-License-Identifier: BSD-3-Clause
// The payload of an abort: why the call fails, in words, and which rank is to blame.
#ifndef HPS_SRC_WIRE_ABORT_H
#define HPS_SRC_WIRE_ABORT_H

#include <vector>

#include "util/status.h"

namespace hps::wire {

// Who tells of it, in the header's chunk, as it settles who else must be told. A member that has ended a call has told
// all; an owner knows those alone who have joined it, so that a member that hears of it from an owner tells the call's
// referee, and the referee all.
enum AbortTeller : std::uint32_t { told_to_all, told_by_owner, told_to_referee };

std::vector<std::byte> encode_abort(const Status& why);

// The Status that was encoded; one of code protocol where the bytes are not whole.
Status decode_abort(ConstBytes bytes);

}  // namespace hps::wire

#endif
