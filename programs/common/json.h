// SPDX-License-Identifier: BSD-3-Clause
// JSON as the programs write it (RFC 8259): values as text, and objects on one line.
#ifndef HPS_PROGRAMS_COMMON_JSON_H
#define HPS_PROGRAMS_COMMON_JSON_H

#include <optional>
#include <string>
#include <string_view>

namespace hps {

// text as a JSON string, quotes included. Control characters are escaped; other bytes are passed on as they are, so
// that UTF-8 stays UTF-8.
std::string json_string(std::string_view text);

// With so many decimals. null where there is no number, or one that JSON has not: infinity, not-a-number.
std::string json_number(const std::optional<double>& number, int decimals);

// An object, its members in the order in which they are added: {"n": 8, "k": 4}.
class JsonObject {
 public:
  // `value` is JSON already.
  JsonObject& add(std::string_view name, std::string_view value);

  std::string text() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

}  // namespace hps

#endif
