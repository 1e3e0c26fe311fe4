// SPDX-License-Identifier: BSD-3-Clause
// Messages that no honest member sends, made from those that one would; and what they may do to the group that they
// name, so that a script knows what it can still expect.
#ifndef HPS_TESTS_FUZZ_BAD_MESSAGES_H
#define HPS_TESTS_FUZZ_BAD_MESSAGES_H

#include <optional>
#include <vector>

#include "fuzz/scripted_group.h"
#include "fuzz/service_script.h"

namespace hps::fuzz {

// Bad JOINs name this, so that their answers are not taken for those of honest ones.
inline constexpr std::uint32_t bad_reply_handle = 0x90000000;

enum class Effect : std::uint8_t {
  none,    // it is rejected, whatever came before
  keeps,   // it may be kept, for another call than the present one
  spoils,  // the present call may fail
  taints   // the service may then know more of the group than its members do
};

struct BadMessage {
  wire::Header header;
  std::vector<std::byte> payload;
  Effect effect = Effect::none;
};

// Nothing where the group is in no state for it.
std::optional<BadMessage> bad_push(const ScriptedGroup& group, std::uint32_t member, BadPush how, std::uint32_t number);

// A JOIN that is bad as said; `number` chooses among the ways.
wire::Join bad_join(const ScriptedGroup& group, std::uint32_t member, BadJoin how, std::uint32_t number);

}  // namespace hps::fuzz

#endif
