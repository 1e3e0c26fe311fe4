// SPDX-License-Identifier: BSD-3-Clause
// The payload of messages that may find a group gone at their receiver, which then has nothing left to tell who sent
// them and how to answer.
#ifndef HPS_SRC_WIRE_SENDER_H
#define HPS_SRC_WIRE_SENDER_H

#include <vector>

#include "util/types.h"

namespace hps::wire {

struct Sender {
  Rank rank = no_rank;
  std::uint32_t handle = 0;  // of the group there
};

std::vector<std::byte> encode(const Sender& sender);
// False, and *sender as it was, where the bytes are not whole.
bool decode(ConstBytes bytes, Sender* sender);

}  // namespace hps::wire

#endif
