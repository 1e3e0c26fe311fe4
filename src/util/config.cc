// SPDX-License-Identifier: BSD-3-Clause
#include "util/config.h"

#include <charconv>
#include <cstdlib>

#include "util/text.h"
#include "util/units.h"

namespace hps {
namespace {

// A parser a kind: it sets *value and says true, or says false. `expects` completes "expected ..."; numbers are at
// least `least` and at most `most`, or 0 where that means automatic.
enum class Zero { is_a_number, is_automatic };
struct Kind {
  const char* expects;
  Zero zero = Zero::is_a_number;
  std::uint64_t least = 0;
  std::uint64_t most = UINT64_MAX;

  bool allows(std::uint64_t number) const {
    return (number == 0 && zero == Zero::is_automatic) || (number >= least && number <= most);
  }
};

template <class Names, class Value>
bool parse_name(const Names& names, std::string_view text, Value* value) {
  for (const auto& [name, named] : names) {
    if (text == name) {
      *value = named;
      return true;
    }
  }
  return false;
}

constexpr Kind log_level_kind{"error, warn, info or debug"};
bool parse_log_level(std::string_view text, LogLevel* value) {
  constexpr std::pair<std::string_view, LogLevel> names[] = {
      {"error", LogLevel::error}, {"warn", LogLevel::warn}, {"info", LogLevel::info}, {"debug", LogLevel::debug}};
  return parse_name(names, text, value);
}

constexpr Kind role_kind{"worker or cpu"};
bool parse_role(std::string_view text, Role* value) {
  constexpr std::pair<std::string_view, Role> names[] = {{"worker", Role::worker}, {"cpu", Role::cpu_only}};
  return parse_name(names, text, value);
}

#define HPS_ALGORITHM(collective, name, summed_by) " or " #name
constexpr Kind algorithm_kind{"auto"
#include "coll/algorithms.def"
};
bool parse_algorithm(std::string_view text, Algorithm* value) {
  std::vector<std::pair<std::string_view, Algorithm>> names = {{"auto", Algorithm::automatic}};
  for (Algorithm algorithm : all_algorithms) names.emplace_back(algorithm_name(algorithm), algorithm);
  return parse_name(names, text, value);
}

constexpr Kind yes_no_kind{"yes or no"};
bool parse_yes_no(std::string_view text, bool* value) {
  constexpr std::pair<std::string_view, bool> names[] = {{"yes", true}, {"no", false}};
  return parse_name(names, text, value);
}

constexpr Kind text_kind{"text"};
bool parse_text(std::string_view given, std::string* value) {
  *value = given;
  return true;
}

constexpr Kind rate_kind{"a link rate such as 100mbit or 10gbit"};
bool parse_rate_or_empty(std::string_view given, double* value) {
  if (!given.empty()) return parse_rate(given, value);
  *value = 0;
  return true;
}

constexpr Kind bytes_kind{"a size such as 64K or 2M, 1 or more", Zero::is_a_number, 1};

// The largest is what every transport sends in one piece (PlanOptions::max_chunk_bytes).
constexpr Kind chunk_bytes_kind{"a size such as 16K, from 64 to 60K, or 0", Zero::is_automatic, 64, 60 << 10};

constexpr Kind number_kind{"a whole number of 0 or more"};
constexpr Kind seconds_kind{"a whole number of seconds, 0 to 1000000", Zero::is_a_number, 0, 1'000'000};
constexpr Kind count_kind{"a whole number of 1 or more", Zero::is_a_number, 1};
bool parse_number(std::string_view given, std::uint32_t* value) {
  const auto [rest, error] = std::from_chars(given.data(), given.data() + given.size(), *value);
  return error == std::errc() && rest == given.data() + given.size();
}

// Overloads, so that config.def's kinds find their parser by name.
bool parse_kind(const Kind&, std::string_view given, LogLevel* value) { return parse_log_level(given, value); }
bool parse_kind(const Kind&, std::string_view given, Role* value) { return parse_role(given, value); }
bool parse_kind(const Kind&, std::string_view given, Algorithm* value) { return parse_algorithm(given, value); }
bool parse_kind(const Kind&, std::string_view given, bool* value) { return parse_yes_no(given, value); }
bool parse_kind(const Kind&, std::string_view given, std::string* value) { return parse_text(given, value); }
bool parse_kind(const Kind&, std::string_view given, double* value) { return parse_rate_or_empty(given, value); }
bool parse_kind(const Kind& kind, std::string_view given, std::uint64_t* value) {
  return parse_bytes(given, value) && kind.allows(*value);
}
bool parse_kind(const Kind& kind, std::string_view given, std::uint32_t* value) {
  return parse_number(given, value) && kind.allows(*value);
}

template <class Value>
Status read_variable(const std::vector<ConfigSource>& sources, const ConfigVariable& variable, const Kind& kind,
                     Value* value) {
  std::string given = variable.default_value;
  for (const ConfigSource& source : sources) {
    if (std::optional<std::string> found = source(variable)) {
      given = *found;
      break;
    }
  }
  if (parse_kind(kind, given, value)) return {};
  return {Code::invalid_config, std::string(variable.name) + "=" + given + ": expected " + kind.expects};
}

}  // namespace

const std::vector<ConfigVariable>& config_variables() {
  static const std::vector<ConfigVariable> variables = {
#define HPS_VARIABLE(member, name, kind, default_value, description) {#name, #kind, default_value, description},
#include "util/config.def"
#undef HPS_VARIABLE
  };
  return variables;
}

std::string info_key(std::string_view variable) { return lower_case(variable); }

std::optional<std::string> from_environment(const ConfigVariable& variable) {
  const char* value = std::getenv(variable.name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

Status read_config(const std::vector<ConfigSource>& sources, Config* config) {
  Config result;
  const ConfigVariable* variable = config_variables().data();
#define HPS_VARIABLE(member, name, kind, default_value, description) \
  HPS_RETURN_IF_ERROR(read_variable(sources, *variable++, kind##_kind, &result.member));
#include "util/config.def"
#undef HPS_VARIABLE
  *config = result;
  return {};
}

std::string effective_value(const ConfigVariable& variable) {
  return from_environment(variable).value_or(variable.default_value);
}

}  // namespace hps
