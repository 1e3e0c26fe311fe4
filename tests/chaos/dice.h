// SPDX-License-Identifier: BSD-3-Clause
// Dice: choices from a seed, the same with every compiler.
#ifndef HPS_TESTS_CHAOS_DICE_H
#define HPS_TESTS_CHAOS_DICE_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "util/random.h"

namespace hps::chaos {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) noexcept : random_(seed) {}

  std::uint64_t next() noexcept { return random_.next(); }
  // A number of least .. most.
  std::uint64_t between(std::uint64_t least, std::uint64_t most) noexcept {
    return least + random_.up_to(most - least);
  }
  std::uint32_t below(std::uint64_t end) noexcept { return static_cast<std::uint32_t>(random_.up_to(end - 1)); }
  bool one_in(std::uint64_t cases) noexcept { return below(cases) == 0; }
  double part() noexcept { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }
  // Every order of magnitude is as likely as every other.
  std::int64_t magnitude(double least, double most) noexcept {
    return std::llround(least * std::pow(most / least, part()));
  }
  template <class T>
  T pick(std::initializer_list<T> choices) noexcept {
    return *(choices.begin() + below(choices.size()));
  }
  template <class T>
  void shuffle(std::vector<T>& items) noexcept {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  Random random_;
};

}  // namespace hps::chaos

#endif
