// SPDX-License-Identifier: BSD-3-Clause
#include "summation/summed_chunks.h"

#include <gtest/gtest.h>

#include <numeric>

namespace hps {
namespace {

bool every_third(std::uint64_t chunk) { return chunk % 3 == 1; }

TEST(SummedChunksTest, ContainNothingAtFirst) {
  const SummedChunks summed;
  EXPECT_FALSE(summed.contains(0));
  EXPECT_FALSE(summed.contains(UINT64_MAX));
}

// The owner's chunks are 1, 4, 7, ...
TEST(SummedChunksTest, ContainExactlyWhatWasAddedInWhateverOrder) {
  constexpr std::uint64_t owned = 40;
  for (std::uint64_t stride = 1; stride < owned; ++stride) {
    if (std::gcd(stride, owned) != 1) continue;
    SummedChunks summed;
    std::vector<bool> added(owned);
    for (std::uint64_t i = 0; i < owned; ++i) {
      const std::uint64_t next = i * stride % owned;
      EXPECT_FALSE(summed.contains(1 + 3 * next));
      summed.add(1 + 3 * next, every_third);
      added[next] = true;
      for (std::uint64_t chunk = 0; chunk < owned; ++chunk) {
        ASSERT_EQ(summed.contains(1 + 3 * chunk), added[chunk])
            << "chunk " << 1 + 3 * chunk << " after " << i + 1 << ", stride " << stride;
      }
    }
  }
}

TEST(SummedChunksTest, ALaterChunkDoesNotHideAGap) {
  SummedChunks summed;
  const auto all = [](std::uint64_t) { return true; };
  summed.add(0, all);
  summed.add(2, all);
  EXPECT_FALSE(summed.contains(1));
  EXPECT_TRUE(summed.contains(2));
  summed.add(1, all);
  EXPECT_TRUE(summed.contains(1));
  EXPECT_FALSE(summed.contains(3));
}

}  // namespace
}  // namespace hps
