// SPDX-License-Identifier: BSD-3-Clause
// How facts are shown: text for people, JSON for programs. Pure.
#ifndef HPS_PROGRAMS_INFO_SHOW_H
#define HPS_PROGRAMS_INFO_SHOW_H

#include <string>

#include "info/facts.h"

namespace hps::info {

// A few lines a part, each ending with a newline. A wrong value stands with its error under it.
std::string as_text(const Facts& facts);

// One object: "version", "features" (an object of strings), "variables" (objects with "name", "value", "default",
// "is_set", "description", and "error", null where there is none), "counters" (objects with "name", "meaning" and
// "is_rejection") and "unknown_variables".
std::string as_json(const Facts& facts);

}  // namespace hps::info

#endif
