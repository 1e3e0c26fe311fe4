// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/plan/test_plan.h"

namespace hps {
namespace {

// n = 8, k = 4: 12 owners; chunks of 16384 bytes, at least 2048.
class ChunkingTest : public testing::Test {
 protected:
  const Plan plan_ = test_plan(8, 4);
};

TEST_F(ChunkingTest, CoversTheMessage) {
  for (std::size_t element_bytes = 1; element_bytes <= 64; ++element_bytes) {
    for (std::uint64_t count : {1u, 2u, 511u, 512u, 513u, 40000u, 1000003u}) {
      const Chunking cut = plan_.chunking(count, element_bytes);
      ASSERT_GE(cut.elements_per_chunk, 1u);
      ASSERT_LT((cut.chunks - 1) * cut.elements_per_chunk, count);
      ASSERT_GE(cut.chunks * cut.elements_per_chunk, count);
      ASSERT_LE(cut.elements_per_chunk * element_bytes, plan_.chunk_bytes);
    }
  }
}

TEST_F(ChunkingTest, ChunksAreMultiplesOf64BytesAndNotTooShort) {
  for (std::size_t element_bytes = 1; element_bytes <= 64; ++element_bytes) {
    for (std::uint64_t count = 1; count < 3000000; count = count * 3 + 1) {
      const std::uint64_t bytes = plan_.chunking(count, element_bytes).elements_per_chunk * element_bytes;
      ASSERT_EQ(bytes % 64, 0u) << element_bytes;
      ASSERT_GE(bytes, plan_.min_chunk_bytes);
    }
  }
}

TEST_F(ChunkingTest, NothingIsNoChunk) {
  EXPECT_EQ(plan_.chunking(0, 4).chunks, 0u);
  EXPECT_GT(plan_.chunking(0, 4).elements_per_chunk, 0u);
}

TEST_F(ChunkingTest, LongMessagesGetTheWholeChunkSize) {
  EXPECT_EQ(plan_.chunking(1 << 20, 4).elements_per_chunk, 4096u);
  EXPECT_EQ(plan_.chunking(1 << 20, 4).chunks, 256u);
  EXPECT_EQ(plan_.chunking((1 << 20) + 1, 4).chunks, 257u);
}

TEST_F(ChunkingTest, ShortMessagesGiveAllOwnersSomething) {
  // 48 chunks: four an owner. 262144 / 48 bytes, rounded up to a multiple of 64.
  EXPECT_EQ(plan_.chunking(262144, 1).elements_per_chunk, 5504u);
  EXPECT_EQ(plan_.chunking(262144, 1).chunks, 48u);
}

TEST_F(ChunkingTest, VeryShortMessagesGetTheLeastChunkSize) {
  EXPECT_EQ(plan_.chunking(1, 8).elements_per_chunk, 256u);
  EXPECT_EQ(plan_.chunking(1, 8).chunks, 1u);
  EXPECT_EQ(plan_.chunking(1025, 4).chunks, 3u);
}

TEST_F(ChunkingTest, IsMonotonic) {
  std::uint64_t last = 0;
  for (std::uint64_t count = 0; count < 300000; count += 7) {
    const std::uint64_t elements = plan_.chunking(count, 4).elements_per_chunk;
    ASSERT_GE(elements, last);
    last = elements;
  }
}

TEST(Chunking, ChunksNumber32BitsForEveryMpiCount) {
  PlanOptions options;
  options.chunk_bytes = 64;
  const Plan plan = test_plan(3, 0, 0, options);
  for (const std::size_t element_bytes : {1u, 8u, 48u, 64u}) {
    const Chunking cut = plan.chunking(INT32_MAX, element_bytes);
    EXPECT_LE(cut.chunks, UINT32_MAX);
    EXPECT_GE(cut.chunks * cut.elements_per_chunk, static_cast<std::uint64_t>(INT32_MAX));
  }
}

TEST(Chunking, OddElementsInTheLeastChunk) {
  PlanOptions options;
  options.chunk_bytes = 64;
  const Plan plan = test_plan(3, 0, 0, options);
  EXPECT_EQ(plan.chunking(1000, 12).elements_per_chunk, 5u);  // 60 bytes: 192 would be the least multiple
  EXPECT_EQ(plan.chunking(1000, 64).elements_per_chunk, 1u);
  EXPECT_EQ(plan.chunking(1000, 33).elements_per_chunk, 1u);
}

}  // namespace
}  // namespace hps
