// SPDX-License-Identifier: BSD-3-Clause
#include "summation/chunk_store.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hps {
namespace {

using Chunks = std::vector<std::uint64_t>;

constexpr std::size_t bytes = 128;

class ChunkStoreTest : public testing::Test {
 protected:
  void put(std::uint32_t sequence, std::uint64_t chunk, std::uint32_t member, std::size_t length = bytes) {
    const std::vector<std::byte> payload(length, static_cast<std::byte>(16 * chunk + member));
    ASSERT_TRUE(store_.put(store_.at(sequence, chunk), member, payload));
  }

  ChunkStore store_{3, bytes};
};

TEST_F(ChunkStoreTest, KeepsContributionsByCallChunkAndMember) {
  EXPECT_EQ(store_.find(1, 0), nullptr);
  put(1, 0, 2);
  put(1, 5, 0);
  put(2, 0, 1, 3);
  ChunkStore::Chunk* chunk = store_.find(1, 0);
  ASSERT_NE(chunk, nullptr);
  EXPECT_EQ(&store_.at(1, 0), chunk);
  EXPECT_EQ(chunk->arrived, 1u);
  EXPECT_EQ(chunk->inputs[0], nullptr);
  EXPECT_EQ(chunk->inputs[1], nullptr);
  ASSERT_NE(chunk->inputs[2], nullptr);
  const std::byte* data = chunk->inputs[2]->data();
  EXPECT_TRUE(std::all_of(data, data + bytes, [](std::byte byte) { return byte == std::byte{2}; }));
  EXPECT_EQ(store_.find(2, 0)->inputs[1]->data()[2], std::byte{1});
  EXPECT_EQ(store_.find(2, 5), nullptr);
  store_.drop_all();
}

TEST_F(ChunkStoreTest, CallsAndChunksWithLargeNumbersAreKeptApart) {
  for (std::uint32_t sequence : {0u, 1u, UINT32_MAX}) {
    for (std::uint64_t chunk : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{UINT32_MAX}})
      store_.at(sequence, chunk).arrived = sequence / 2 + static_cast<std::uint32_t>(chunk / 3);
  }
  EXPECT_EQ(store_.chunks_with(UINT32_MAX, UINT32_MAX / 2), (Chunks{0, 1}));
  EXPECT_EQ(store_.chunks_with(1, UINT32_MAX / 3), Chunks{UINT32_MAX});
  store_.drop_all();
}

TEST_F(ChunkStoreTest, CountsWhatWaitsOfEachMember) {
  put(1, 0, 0);
  put(1, 1, 0);
  put(2, 0, 0);
  put(2, 0, 2);
  EXPECT_EQ(store_.waiting(0), 3u);
  EXPECT_EQ(store_.waiting(1), 0u);
  EXPECT_EQ(store_.waiting(2), 1u);
  store_.drop(2, 0);
  EXPECT_EQ(store_.waiting(0), 2u);
  EXPECT_EQ(store_.waiting(2), 0u);
  EXPECT_EQ(store_.find(2, 0), nullptr);
  store_.drop(2, 0);  // nothing there
  EXPECT_EQ(store_.waiting(0), 2u);
  store_.drop_all();
}

TEST_F(ChunkStoreTest, FindsTheChunksThatWaitForTheSameNumberInOrder) {
  for (std::uint64_t chunk : {9u, 3u, 40u}) {
    put(1, chunk, 0);
    put(1, chunk, 1);
  }
  put(1, 5, 0);
  for (std::uint32_t member : {0u, 1u}) put(2, 4, member);
  EXPECT_EQ(store_.chunks_with(1, 2), (Chunks{3, 9, 40}));
  EXPECT_EQ(store_.chunks_with(1, 1), Chunks{5});
  EXPECT_EQ(store_.chunks_with(3, 1), Chunks{});
  store_.drop_all();
}

TEST_F(ChunkStoreTest, DropsOneCallWhole) {
  put(1, 0, 0);
  put(1, 7, 1);
  put(2, 0, 1);
  store_.drop_call(1);
  EXPECT_EQ(store_.find(1, 0), nullptr);
  EXPECT_EQ(store_.find(1, 7), nullptr);
  EXPECT_EQ(store_.waiting(0), 0u);
  EXPECT_EQ(store_.waiting(1), 1u);
  EXPECT_FALSE(store_.empty());
  store_.drop_all();
  EXPECT_TRUE(store_.empty());
}

TEST_F(ChunkStoreTest, IsSendingWhileAResultIsHeldAndNotForContributions) {
  put(1, 0, 0);
  EXPECT_FALSE(store_.sending());
  ChunkBuffer* result = store_.take_result();
  ASSERT_NE(result, nullptr);
  EXPECT_TRUE(store_.sending());
  store_.drop_all();
  EXPECT_TRUE(store_.sending());
  EXPECT_FALSE(store_.empty());
  result->on_sent({});
  EXPECT_FALSE(store_.sending());
  EXPECT_TRUE(store_.empty());
}

TEST_F(ChunkStoreTest, SlotsAreUsedAgain) {
  put(1, 0, 0);
  const ChunkBuffer* slot = store_.find(1, 0)->inputs[0];
  store_.drop(1, 0);
  put(1, 1, 1);
  EXPECT_EQ(store_.find(1, 1)->inputs[1], slot);
  store_.drop_all();
}

}  // namespace
}  // namespace hps
