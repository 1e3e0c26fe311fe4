// SPDX-License-Identifier: BSD-3-Clause
#include "util/log.h"

#include <cstdio>

namespace hps {

void Log::write(LogLevel level, const std::string& text) const noexcept {
  if (!enabled(level)) return;
  static constexpr const char* names[] = {"error", "warn", "info", "debug"};
  const char* name = names[static_cast<std::size_t>(level)];
  if (rank_ == no_rank)
    std::fprintf(stderr, "hps %s: %s\n", name, text.c_str());
  else
    std::fprintf(stderr, "hps[%d] %s: %s\n", static_cast<int>(rank_), name, text.c_str());
}

}  // namespace hps
