// SPDX-License-Identifier: BSD-3-Clause
#include "wire/join.h"

#include <gtest/gtest.h>

#include "wire/abort.h"

namespace hps::wire {
namespace {

TEST(JoinTest, ComesBackAsItWas) {
  const Join join{{3, 4}, 5, 6, 0x1122334455667788, {std::byte{1}, std::byte{2}}};
  Join decoded;
  ASSERT_TRUE(decode(encode(join), &decoded));
  EXPECT_EQ(decoded.id, join.id);
  EXPECT_EQ(decoded.member, 5u);
  EXPECT_EQ(decoded.reply_handle, 6u);
  EXPECT_EQ(decoded.spec_hash, join.spec_hash);
  EXPECT_EQ(decoded.spec, join.spec);
}

TEST(JoinTest, ATruncatedOneIsRejected) {
  const std::vector<std::byte> bytes = encode(Join{{3, 4}, 5, 6, 7, {}});
  Join decoded;
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(decode(ConstBytes(bytes).first(length), &decoded)) << length;
}

TEST(JoinReplyTest, ComesBackAsItWas) {
  JoinReply decoded;
  ASSERT_TRUE(decode(encode(JoinReply{8, 16, 9, "no memory"}), &decoded));
  EXPECT_EQ(decoded.handle, 8u);
  EXPECT_EQ(decoded.credits, 16u);
  EXPECT_EQ(decoded.error, "no memory");
}

TEST(JoinReplyTest, WrongLengthsAreRejected) {
  std::vector<std::byte> bytes = encode(JoinReply{8, 16, 9, "no memory"});
  JoinReply decoded;
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(decode(ConstBytes(bytes).first(length), &decoded)) << length;
  bytes.push_back({});
  EXPECT_FALSE(decode(bytes, &decoded));
  // A text that says it is longer than any message.
  bytes.assign(12, std::byte{0xff});
  EXPECT_FALSE(decode(bytes, &decoded));
}

TEST(AbortTest, ComesBackAsItWas) {
  const Status why = decode_abort(encode_abort({Code::mismatch, "rank 3: count 100 differs", 3}));
  EXPECT_EQ(why.code(), Code::mismatch);
  EXPECT_EQ(why.text(), "rank 3: count 100 differs");
  EXPECT_EQ(why.who(), 3);
}

TEST(AbortTest, WhatCannotBeReadIsStillAnError) {
  EXPECT_EQ(decode_abort({}).code(), Code::protocol);
  std::vector<std::byte> bytes = encode_abort({Code::mismatch, "x", 3});
  bytes[0] = std::byte{255};
  EXPECT_EQ(decode_abort(bytes).code(), Code::protocol);
  bytes[0] = std::byte{0};  // "ok"
  EXPECT_EQ(decode_abort(bytes).code(), Code::protocol);
}

}  // namespace
}  // namespace hps::wire
