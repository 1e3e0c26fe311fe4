// SPDX-License-Identifier: BSD-3-Clause
// Config: what a user has said through HPS_* variables and info keys. The list of variables is config.def, nowhere
// else.
#ifndef HPS_SRC_UTIL_CONFIG_H
#define HPS_SRC_UTIL_CONFIG_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/log.h"
#include "util/status.h"
#include "util/types.h"

namespace hps {

// Members are named and documented in config.def; these are the types of its kinds.
struct Config {
  LogLevel log = LogLevel::warn;
  Role role = Role::worker;
  std::string node;
  double link_rate = 0;
  bool measure = true;
  std::uint64_t chunk = 0;
  std::uint32_t window = 0;
  Algorithm algorithm = Algorithm::automatic;
  std::uint64_t serve_memory = 0;
  std::uint32_t timeout = 0;
  std::uint32_t stall_warn = 0;
  std::uint32_t threads = 1;
  std::string trace;
};

// One row of config.def, for hps_info.
struct ConfigVariable {
  const char* name;           // "HPS_LOG"
  const char* kind;           // "log_level"
  const char* default_value;  // "warn"
  const char* description;
};

const std::vector<ConfigVariable>& config_variables();

// The info key of a variable: its name in small letters.
std::string info_key(std::string_view variable);

// Looks a variable up; nullopt where it is not set.
using ConfigSource = std::function<std::optional<std::string>(const ConfigVariable&)>;

// getenv. A variable that is set but empty counts as not set.
std::optional<std::string> from_environment(const ConfigVariable& variable);

// Every variable from the first source that has it, else its default. Error: invalid_config, naming the variable, the
// value and what would be right.
Status read_config(const std::vector<ConfigSource>& sources, Config* config);

// The value that the environment gives a variable, or its default.
std::string effective_value(const ConfigVariable& variable);

}  // namespace hps

#endif
