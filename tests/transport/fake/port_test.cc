// SPDX-License-Identifier: BSD-3-Clause
#include "transport/fake/port.h"

#include <gtest/gtest.h>

#include <array>

namespace hps::fake {
namespace {

TEST(UplinkTest, ServesFlowsInTurn) {
  Flow a;
  Flow b;
  std::array<Message, 5> messages;
  Uplink uplink;
  EXPECT_EQ(uplink.start(), nullptr);
  uplink.push(a, messages[0]);
  uplink.push(a, messages[1]);
  uplink.push(a, messages[2]);
  EXPECT_EQ(uplink.start(), &messages[0]);
  EXPECT_TRUE(uplink.busy());
  uplink.push(b, messages[3]);  // begins to wait during a's turn: next
  uplink.push(b, messages[4]);
  for (const std::size_t next : {0u, 3u, 1u, 4u, 2u}) {
    if (!uplink.busy()) {
      EXPECT_EQ(uplink.start(), &messages[next]);
    }
    EXPECT_EQ(&uplink.finish(), &messages[next]);
  }
  EXPECT_EQ(uplink.start(), nullptr);
  EXPECT_FALSE(uplink.busy());
}

TEST(UplinkTest, FlowThatRanEmptyComesAgain) {
  Flow a;
  Message first;
  Message second;
  Uplink uplink;
  uplink.push(a, first);
  ASSERT_EQ(uplink.start(), &first);
  uplink.finish();
  uplink.push(a, second);
  EXPECT_EQ(uplink.start(), &second);
}

TEST(UplinkTest, SkipsFlowsEmptiedByABreak) {
  Flow broken;
  Flow other;
  Message lost;
  Message kept;
  Uplink uplink;
  uplink.push(broken, lost);
  uplink.push(other, kept);
  broken.waiting.pop();
  EXPECT_EQ(uplink.start(), &kept);
  EXPECT_FALSE(broken.in_round);
}

TEST(UplinkTest, CountsBytesThatLeft) {
  Flow a;
  Message message;
  message.wire_bytes = 70;
  Uplink uplink;
  uplink.push(a, message);
  ASSERT_NE(uplink.start(), nullptr);
  EXPECT_EQ(uplink.bytes(), 0u);
  uplink.finish();
  EXPECT_EQ(uplink.bytes(), 70u);
}

TEST(DownlinkTest, PeakCountsWhatWaits) {
  std::array<Message, 4> messages;
  for (Message& message : messages) message.wire_bytes = 10;
  Downlink downlink;
  downlink.push(messages[0], 0);
  ASSERT_EQ(downlink.start(), &messages[0]);
  downlink.set_busy_until(100);
  EXPECT_EQ(downlink.peak_waiting_bytes(), 0u);
  downlink.push(messages[1], 100);
  EXPECT_EQ(downlink.peak_waiting_bytes(), 0u) << "the link falls free as it comes";
  downlink.push(messages[2], 100);
  EXPECT_EQ(downlink.peak_waiting_bytes(), 10u);
  downlink.finish();
  EXPECT_EQ(downlink.start(), &messages[1]);
  downlink.set_busy_until(200);
  downlink.push(messages[3], 150);
  EXPECT_EQ(downlink.peak_waiting_bytes(), 20u);
  downlink.finish();
  EXPECT_EQ(downlink.start(), &messages[2]);
  downlink.finish();
  EXPECT_EQ(downlink.bytes(), 30u);
  EXPECT_EQ(downlink.peak_waiting_bytes(), 20u);
}

}  // namespace
}  // namespace hps::fake
