// SPDX-License-Identifier: BSD-3-Clause
#include "util/units.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "util/text.h"

namespace hps {
namespace {

// The power of 1024 that a suffix stands for, or -1.
int binary_exponent(std::string_view suffix) {
  if (suffix.empty()) return 0;
  const std::string_view units = "kmgt";
  if (suffix.size() != 1) return -1;
  const auto at = units.find(lower_case(suffix)[0]);
  return at == std::string_view::npos ? -1 : static_cast<int>(at) + 1;
}

// The bits a second that a suffix stands for, or 0.
double rate_unit(std::string_view suffix) {
  const std::string unit = lower_case(suffix);
  if (unit == "bit") return 1;
  if (unit == "kbit") return 1e3;
  if (unit == "mbit") return 1e6;
  if (unit == "gbit") return 1e9;
  if (unit == "tbit") return 1e12;
  return 0;
}

}  // namespace

bool parse_bytes(std::string_view text, std::uint64_t* bytes) noexcept {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc()) return false;
  const int exponent = binary_exponent(std::string_view(rest, static_cast<std::size_t>(end - rest)));
  if (exponent < 0) return false;
  if (value > (std::numeric_limits<std::uint64_t>::max() >> (10 * exponent))) return false;
  *bytes = value << (10 * exponent);
  return true;
}

bool parse_rate(std::string_view text, double* bytes_per_second) noexcept {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (error != std::errc()) return false;
  const double rate = value * rate_unit(std::string_view(rest, static_cast<std::size_t>(end - rest))) / 8;
  if (!std::isfinite(rate) || rate <= 0) return false;
  *bytes_per_second = rate;
  return true;
}

std::string format_bytes(std::uint64_t bytes) {
  const char* const units[] = {"", "K", "M", "G", "T"};
  int exponent = 0;
  while (exponent < 4 && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++exponent;
  }
  return std::to_string(bytes) + units[exponent];
}

std::string format_rate(double bytes_per_second) {
  const char* const units[] = {"bit", "kbit", "mbit", "gbit", "tbit"};
  double bits = bytes_per_second * 8;
  int unit = 0;
  while (unit < 4 && bits >= 1000) {
    bits /= 1000;
    ++unit;
  }
  char text[48];
  std::snprintf(text, sizeof text, "%.6g%s", bits, units[unit]);
  return text;
}

}  // namespace hps
