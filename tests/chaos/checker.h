// SPDX-License-Identifier: BSD-3-Clause
// Checker: whether what happened in a World is what HPS promises. Every call ended on every rank that lives; with the
// right bits, or with an error where something had gone wrong in that group; an error touched nothing that it should
// not have; and at the end nothing is left anywhere.
#ifndef HPS_TESTS_CHAOS_CHECKER_H
#define HPS_TESTS_CHAOS_CHECKER_H

#include <string>

#include "chaos/world.h"

namespace hps::chaos {

// What is wrong, a line each; empty where nothing is. `came_to_an_end`: what World::run said.
std::string check(World& world, const Kinds& kinds, bool came_to_an_end);

}  // namespace hps::chaos

#endif
