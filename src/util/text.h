// SPDX-License-Identifier: BSD-3-Clause
// Text, without regard to the locale: HPS reads the same on every host.
#ifndef HPS_SRC_UTIL_TEXT_H
#define HPS_SRC_UTIL_TEXT_H

#include <string>
#include <string_view>

namespace hps {

// ASCII's capital letters made small; other bytes as they are.
inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

}  // namespace hps

#endif
