// SPDX-License-Identifier: BSD-3-Clause
// JSON as the programs write it (RFC 8259): only what turning text into a string literal takes.
#ifndef HPS_PROGRAMS_COMMON_JSON_H
#define HPS_PROGRAMS_COMMON_JSON_H

#include <string>
#include <string_view>

namespace hps {

// text as a JSON string, quotes included. Control characters are escaped; other bytes are passed on as they are, so
// that UTF-8 stays UTF-8.
std::string json_string(std::string_view text);

}  // namespace hps

#endif
