// SPDX-License-Identifier: BSD-3-Clause
// The payload of an abort: why the call fails, in words, and which rank is to blame.
#ifndef HPS_SRC_WIRE_ABORT_H
#define HPS_SRC_WIRE_ABORT_H

#include <vector>

#include "util/status.h"

namespace hps::wire {

std::vector<std::byte> encode_abort(const Status& why);

// The Status that was encoded; one of code protocol where the bytes are not whole.
Status decode_abort(ConstBytes bytes);

}  // namespace hps::wire

#endif
