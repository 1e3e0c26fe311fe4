// SPDX-License-Identifier: BSD-3-Clause
#include "summation/chunk_memory.h"

#include <gtest/gtest.h>

#include <cstring>

namespace hps {
namespace {

TEST(MemoryBudgetTest, GrantsUpToItsLimitAndNotMore) {
  MemoryBudget budget(100);
  EXPECT_TRUE(budget.reserve(60));
  EXPECT_FALSE(budget.reserve(41));
  EXPECT_EQ(budget.available(), 40u);
  EXPECT_TRUE(budget.reserve(40));
  EXPECT_FALSE(budget.reserve(1));
  budget.release(60);
  EXPECT_EQ(budget.reserved(), 40u);
  EXPECT_TRUE(budget.reserve(60));
}

TEST(BufferPoolTest, BuffersAreAlignedSeparateAndUsedAgain) {
  BufferPool pool(100);
  EXPECT_EQ(pool.bytes(), 128u);
  ChunkBuffer* first = pool.take();
  ChunkBuffer* second = pool.take();
  ASSERT_NE(first, second);
  for (ChunkBuffer* buffer : {first, second}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % ChunkBuffer::alignment, 0u);
    std::memset(buffer->data(), 1, pool.bytes());
  }
  EXPECT_EQ(pool.in_use(), 2u);
  first->drop_reference();
  EXPECT_EQ(pool.in_use(), 1u);
  EXPECT_EQ(pool.take(), first);
  first->drop_reference();
  second->drop_reference();
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST(BufferPoolTest, TrimFreesWhatNobodyHolds) {
  BufferPool pool(64);
  ChunkBuffer* held = pool.take();
  pool.take()->drop_reference();
  std::memset(held->data(), 7, pool.bytes());
  pool.trim();
  EXPECT_EQ(pool.in_use(), 1u);
  EXPECT_EQ(held->data()[63], std::byte{7});
  ChunkBuffer* fresh = pool.take();
  EXPECT_NE(fresh, held);
  fresh->drop_reference();
  held->drop_reference();
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST(BufferPoolTest, ABufferStaysWhileASendHoldsIt) {
  BufferPool pool(64);
  ChunkBuffer* buffer = pool.take();
  buffer->add_reference();
  buffer->add_reference();
  buffer->drop_reference();
  buffer->on_sent({});
  EXPECT_EQ(pool.in_use(), 1u);
  buffer->on_sent({Code::peer_failed, "gone"});
  EXPECT_EQ(pool.in_use(), 0u);
}

}  // namespace
}  // namespace hps
