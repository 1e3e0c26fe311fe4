// SPDX-License-Identifier: BSD-3-Clause
// Units as users write them: sizes in powers of 1024 (8, 64K, 32M, 1G), link rates in decimal bits a second (100mbit,
// 10gbit), as tc(8) takes them.
#ifndef HPS_SRC_UTIL_UNITS_H
#define HPS_SRC_UTIL_UNITS_H

#include <cstdint>
#include <string>
#include <string_view>

namespace hps {

// "64K" -> 65536. Digits, then nothing, K, M, G or T (either case). False, and *bytes as it was, where the text is
// anything else or the value does not fit.
bool parse_bytes(std::string_view text, std::uint64_t* bytes) noexcept;

// "100mbit" -> 12.5e6 bytes a second. A decimal number (a fraction is allowed), then bit, kbit, mbit, gbit or tbit
// (either case). False, and *bytes_per_second as it was, where the text is anything else or the value is not positive
// and finite.
bool parse_rate(std::string_view text, double* bytes_per_second) noexcept;

// 65536 -> "64K"; what has no short form in full: 1000 -> "1000".
std::string format_bytes(std::uint64_t bytes);

// 12.5e6 -> "100mbit".
std::string format_rate(double bytes_per_second);

}  // namespace hps

#endif
