// SPDX-License-Identifier: BSD-3-Clause
// SummedChunks: which of an owner's chunks of one call have been summed, so that a contribution that comes once more is
// known for what it is. Chunks are complete nearly in order, so what is kept is how far all are, and the few beyond.
#ifndef HPS_SRC_SUMMATION_SUMMED_CHUNKS_H
#define HPS_SRC_SUMMATION_SUMMED_CHUNKS_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hps {

class SummedChunks {
 public:
  // Meaningful for the owner's chunks alone.
  bool contains(std::uint64_t chunk) const noexcept {
    return chunk < through_ || std::binary_search(beyond_.begin(), beyond_.end(), chunk);
  }
  // `owns(chunk)`: whether a chunk is the owner's. Each chunk is added once.
  template <class Owns>
  void add(std::uint64_t chunk, const Owns& owns) {
    beyond_.insert(std::lower_bound(beyond_.begin(), beyond_.end(), chunk), chunk);
    std::size_t reached = 0;
    while (reached < beyond_.size() && !owns_any(through_, beyond_[reached], owns)) through_ = beyond_[reached++] + 1;
    beyond_.erase(beyond_.begin(), beyond_.begin() + static_cast<std::ptrdiff_t>(reached));
  }

 private:
  template <class Owns>
  static bool owns_any(std::uint64_t first, std::uint64_t end, const Owns& owns) {
    for (std::uint64_t chunk = first; chunk < end; ++chunk) {
      if (owns(chunk)) return true;
    }
    return false;
  }

  std::uint64_t through_ = 0;          // all chunks of the owner below this
  std::vector<std::uint64_t> beyond_;  // ascending
};

}  // namespace hps

#endif
