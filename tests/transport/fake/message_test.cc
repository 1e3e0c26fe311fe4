// SPDX-License-Identifier: BSD-3-Clause
#include "transport/fake/message.h"

#include <gtest/gtest.h>

#include "tests/transport/fake/test_rank.h"

namespace hps::fake {
namespace {

TEST(MessagePoolTest, HoldsCopies) {
  MessagePool pool;
  std::string header = "head";
  std::string payload(1000, 'p');
  Message& message = pool.acquire(bytes_of(header), bytes_of(payload));
  header = "gone";
  payload.clear();
  EXPECT_EQ(text_of(message.header()), "head");
  EXPECT_EQ(text_of(message.payload()), std::string(1000, 'p'));
  EXPECT_EQ(message.source, no_rank);
  EXPECT_EQ(message.completion, nullptr);
}

TEST(MessagePoolTest, AnEmptyMessageIsAMessage) {
  MessagePool pool;
  Message& message = pool.acquire({}, {});
  EXPECT_TRUE(message.header().empty());
  EXPECT_TRUE(message.payload().empty());
  pool.release(message);
}

TEST(MessagePoolTest, UsesMessagesAgainAsTheyWereMade) {
  MessagePool pool;
  const std::string text = "some bytes";
  Message& first = pool.acquire(bytes_of(text), {});
  first.source = 3;
  first.destination = 4;
  first.wire_bytes = 10;
  const ConstBytes kept = first.header();
  pool.release(first);
  EXPECT_NE(text_of(kept), text) << "released bytes are overwritten";
  Message& second = pool.acquire({}, bytes_of("xy"));
  EXPECT_EQ(&second, &first);
  EXPECT_EQ(second.source, no_rank);
  EXPECT_EQ(second.destination, no_rank);
  EXPECT_EQ(second.wire_bytes, 0u);
  EXPECT_EQ(second.next, nullptr);
  EXPECT_EQ(text_of(second.payload()), "xy");
  EXPECT_EQ(pool.allocated(), 1u);
}

TEST(MessagePoolTest, BuffersAreOfTheSizeNeeded) {
  MessagePool pool;
  for (const std::size_t bytes : {1u, 64u, 65u, 128u, 129u, 61440u, 65536u}) {
    const std::string text(bytes, 'x');
    Message& message = pool.acquire(bytes_of(text), {});
    const std::size_t capacity = std::size_t{1} << message.size_class;
    EXPECT_GE(capacity, bytes);
    EXPECT_LE(capacity, std::max<std::size_t>(64, 2 * bytes));
    pool.release(message);
  }
  EXPECT_EQ(pool.allocated(), 4u) << "64, 128, 256 and 65536 bytes";
}

}  // namespace
}  // namespace hps::fake
