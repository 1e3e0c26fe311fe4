// SPDX-License-Identifier: BSD-3-Clause
// SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014), as a generator and as
// the function that mixes the bits of a number. The same numbers with every compiler, which the standard library's
// distributions do not promise.
#ifndef HPS_SRC_UTIL_RANDOM_H
#define HPS_SRC_UTIL_RANDOM_H

#include <cstdint>

namespace hps {

inline constexpr std::uint64_t splitmix64_step = 0x9e3779b97f4a7c15;

// Well-mixed bits from any number: neighbours get unrelated ones.
constexpr std::uint64_t mix_bits(std::uint64_t number) noexcept {
  std::uint64_t bits = number + splitmix64_step;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept {
    const std::uint64_t bits = mix_bits(state_);
    state_ += splitmix64_step;
    return bits;
  }

  // A number of 0 .. most. (The remainder favours small numbers by less than one part in 2^64 / most.)
  constexpr std::uint64_t up_to(std::uint64_t most) noexcept { return next() % (most + 1); }

 private:
  std::uint64_t state_;
};

}  // namespace hps

#endif
