// SPDX-License-Identifier: BSD-3-Clause
#include "wire/sender.h"

#include <gtest/gtest.h>

namespace hps::wire {
namespace {

TEST(SenderTest, WhatIsEncodedIsDecoded) {
  Sender sender;
  ASSERT_TRUE(decode(encode(Sender{17, 0x100003}), &sender));
  EXPECT_EQ(sender.rank, 17);
  EXPECT_EQ(sender.handle, 0x100003u);
}

TEST(SenderTest, BytesThatAreNotWholeAreRefused) {
  std::vector<std::byte> bytes = encode(Sender{17, 3});
  Sender sender;
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(decode(ConstBytes(bytes.data(), length), &sender));
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode(bytes, &sender));
  EXPECT_EQ(sender.rank, no_rank);
}

}  // namespace
}  // namespace hps::wire
