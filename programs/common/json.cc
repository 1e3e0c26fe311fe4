// SPDX-License-Identifier: BSD-3-Clause
#include "common/json.h"

#include <cmath>
#include <cstdio>

namespace hps {

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      result += escape;
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string json_number(const std::optional<double>& number, int decimals) {
  if (!number || !std::isfinite(*number)) return "null";
  char text[400];  // the largest double has 309 digits before the point
  std::snprintf(text, sizeof text, "%.*f", decimals, *number);
  return text;
}

JsonObject& JsonObject::add(std::string_view name, std::string_view value) {
  if (!members_.empty()) members_ += ", ";
  members_ += json_string(name) + ": ";
  members_ += value;
  return *this;
}

}  // namespace hps
