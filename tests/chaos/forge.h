// SPDX-License-Identifier: BSD-3-Clause
// Forge: messages that should not be, made from messages that were, or from nothing.
#ifndef HPS_TESTS_CHAOS_FORGE_H
#define HPS_TESTS_CHAOS_FORGE_H

#include <optional>

#include "chaos/schedule.h"
#include "chaos/tap.h"

namespace hps::chaos {

// What the fault sends; nothing where it has no message to start from. `ranks`: of the job; `token`: the
// receiver's.
std::optional<Captured> forge(const Fault& fault, const Kinds& kinds, std::uint32_t ranks, std::uint32_t token,
                              const std::vector<Captured>& captured);

}  // namespace hps::chaos

#endif
