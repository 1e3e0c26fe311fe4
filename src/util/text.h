// SPDX-License-Identifier: BSD-3-Clause
// Text, without regard to the locale: HPS reads and writes the same on every host.
#ifndef HPS_SRC_UTIL_TEXT_H
#define HPS_SRC_UTIL_TEXT_H

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "util/types.h"

namespace hps {

// ASCII's capital letters made small; other bytes as they are.
inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

// "rank 3, rank 5", and so on for some.
inline std::string list_ranks(const std::vector<Rank>& ranks) {
  constexpr std::size_t most = 16;
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), most); ++i)
    text += (i == 0 ? "rank " : ", rank ") + std::to_string(ranks[i]);
  if (ranks.size() > most) text += " and " + std::to_string(ranks.size() - most) + " more";
  return text;
}

}  // namespace hps

#endif
