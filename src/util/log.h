// SPDX-License-Identifier: BSD-3-Clause
// Log: the only place where the library writes to standard error. One line a message, written in one piece: "hps[rank]
// level: text".
#ifndef HPS_SRC_UTIL_LOG_H
#define HPS_SRC_UTIL_LOG_H

#include <cstdint>
#include <string>

#include "util/types.h"

namespace hps {

enum class LogLevel : std::uint8_t { error, warn, info, debug };

// A value, copied into whoever logs: no global state. A default Log writes errors and warnings.
class Log {
 public:
  Log() noexcept = default;
  Log(LogLevel level, Rank rank) noexcept : level_(level), rank_(rank) {}

  bool enabled(LogLevel level) const noexcept { return level <= level_; }
  void error(const std::string& text) const noexcept { write(LogLevel::error, text); }
  void warn(const std::string& text) const noexcept { write(LogLevel::warn, text); }
  void info(const std::string& text) const noexcept { write(LogLevel::info, text); }
  void debug(const std::string& text) const noexcept { write(LogLevel::debug, text); }

 private:
  void write(LogLevel level, const std::string& text) const noexcept;

  LogLevel level_ = LogLevel::warn;
  Rank rank_ = no_rank;
};

}  // namespace hps

#endif
