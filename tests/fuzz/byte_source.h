// SPDX-License-Identifier: BSD-3-Clause
// ByteSource: the fuzzer's input, taken piece by piece. After its end it gives zeros, so that every input is a whole
// one and a shorter input is a simpler one.
#ifndef HPS_TESTS_FUZZ_BYTE_SOURCE_H
#define HPS_TESTS_FUZZ_BYTE_SOURCE_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "util/types.h"

namespace hps::fuzz {

class ByteSource {
 public:
  explicit ByteSource(ConstBytes bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  template <class T>
  T take() {
    T value = 0;
    const ConstBytes bytes = take_up_to(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  std::uint8_t byte() { return take<std::uint8_t>(); }
  std::uint32_t below(std::uint32_t end) { return byte() % end; }
  ConstBytes take_up_to(std::size_t bytes) {
    const ConstBytes taken = rest_.first(std::min(bytes, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

 private:
  ConstBytes rest_;
};

}  // namespace hps::fuzz

#endif
