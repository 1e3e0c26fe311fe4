// SPDX-License-Identifier: BSD-3-Clause
// Random: SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014). The same
// numbers with every compiler, which the standard library's distributions do not promise.
#ifndef HPS_SRC_TRANSPORT_FAKE_RANDOM_H
#define HPS_SRC_TRANSPORT_FAKE_RANDOM_H

#include <cstdint>

namespace hps::fake {

class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // A number of 0 .. most. (The remainder favours small numbers by less than one part in 2^64 / most.)
  std::uint64_t up_to(std::uint64_t most) noexcept { return next() % (most + 1); }

 private:
  std::uint64_t state_;
};

}  // namespace hps::fake

#endif
