// SPDX-License-Identifier: BSD-3-Clause
#include "engine/prober.h"

#include <gtest/gtest.h>

#include "engine/recording_outbox.h"

namespace hps::test {
namespace {

constexpr Rank self = 1;

wire::Header train_header(Rank from, std::uint32_t order) {
  wire::Header header;
  header.type = wire::MessageType::train;
  header.handle = 7;
  header.sequence = order;
  header.chunk = static_cast<std::uint32_t>(from);
  return header;
}

std::vector<std::byte> car(std::uint32_t messages, std::size_t bytes = 1000) {
  std::vector<std::byte> payload = wire::encode(wire::TrainHead{0, messages});
  payload.resize(bytes);
  return payload;
}

class ProberTest : public testing::Test {
 protected:
  RecordingOutbox outbox_;
  Prober prober_{self, outbox_, Log()};
};

TEST_F(ProberTest, ATrainIsTimedButForItsBeginning) {
  TimeNs now = 5'000'000;
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(prober_.on_train(train_header(3, 1), car(9)), Rejection::none);
    now += i < 3 ? 10 : 1'000'000;  // the beginning comes out of a bucket
    const auto results = prober_.step(now);
    if (i < 8) {
      EXPECT_TRUE(results.empty());
      continue;
    }
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].client.rank, 0);
    EXPECT_EQ(results[0].client.handle, 7u);
    EXPECT_EQ(results[0].client.order, 1u);
    EXPECT_EQ(results[0].measured.from, 3);
    EXPECT_NEAR(static_cast<double>(results[0].measured.bytes), 6000, 1);
    EXPECT_EQ(results[0].measured.ns, 6'000'000);
  }
  EXPECT_TRUE(prober_.step(now + 1).empty());
}

TEST_F(ProberTest, AThreadThatWakesUpLateDoesLittleHarm) {
  TimeNs now = 0;
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(prober_.on_train(train_header(3, 1), car(30)), Rejection::none);
    now += 1'000'000;
    const bool sleeps = i >= 9 && i < 14;  // five messages are seen at once
    const auto results = sleeps ? std::vector<Prober::Result>() : prober_.step(now);
    if (i < 29) continue;
    ASSERT_EQ(results.size(), 1u);
    const wire::Measured& measured = results[0].measured;
    EXPECT_NEAR(static_cast<double>(measured.bytes) / static_cast<double>(measured.ns) * 1e6, 1000, 20);
  }
}

TEST_F(ProberTest, ATrainThatComesAllAtOnceTakesNoTime) {
  for (int i = 0; i < 8; ++i) EXPECT_EQ(prober_.on_train(train_header(3, 1), car(8)), Rejection::none);
  const auto results = prober_.step(1);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].measured.ns, 0);
}

TEST_F(ProberTest, AnotherTrainOfTheSameRankEndsTheOneBefore) {
  EXPECT_EQ(prober_.on_train(train_header(3, 1), car(2)), Rejection::none);
  EXPECT_EQ(prober_.on_train(train_header(3, 2), car(2)), Rejection::none);
  EXPECT_TRUE(prober_.step(1).empty());
  EXPECT_EQ(prober_.on_train(train_header(3, 2), car(2)), Rejection::none);
  EXPECT_EQ(prober_.step(2).size(), 1u);
}

TEST_F(ProberTest, WhatDoesNotFitIsRejected) {
  EXPECT_EQ(prober_.on_train(train_header(3, 1), car(0)), Rejection::malformed);
  EXPECT_EQ(prober_.on_train(train_header(3, 1), car(wire::most_train_messages + 1)), Rejection::malformed);
  EXPECT_EQ(prober_.on_train(train_header(3, 1), std::vector<std::byte>(3)), Rejection::malformed);
  EXPECT_EQ(prober_.on_train(train_header(3, 1), car(1)), Rejection::none);
  EXPECT_EQ(prober_.on_train(train_header(3, 1), car(1)), Rejection::unexpected);
  EXPECT_EQ(prober_.on_train(train_header(3, 1), car(2)), Rejection::unexpected);
  wire::Header order = train_header(0, 1);
  order.type = wire::MessageType::measure;
  EXPECT_EQ(prober_.on_order(order, wire::encode(wire::MeasureOrder{2, 8, 7})), Rejection::malformed);
  EXPECT_EQ(prober_.on_order(order, wire::encode(wire::MeasureOrder{2, 8, 1u << 30})), Rejection::malformed);
  EXPECT_EQ(prober_.on_order(order, wire::encode(wire::MeasureOrder{2, 1u << 30, 100})), Rejection::malformed);
  EXPECT_EQ(prober_.on_order(order, wire::encode(wire::MeasureOrder{self, 8, 100})), Rejection::unknown_rank);
  EXPECT_TRUE(outbox_.take().empty());
}

TEST_F(ProberTest, SendsWhatItIsOrdered) {
  wire::Header order = train_header(0, 9);
  order.type = wire::MessageType::measure;
  EXPECT_EQ(prober_.on_order(order, wire::encode(wire::MeasureOrder{2, 8, 100})), Rejection::none);
  const auto sent = outbox_.take();
  ASSERT_EQ(sent.size(), 8u);
  for (const auto& message : sent) {
    EXPECT_EQ(message.to, 2);
    EXPECT_EQ(message.header.type, wire::MessageType::train);
    EXPECT_EQ(message.header.handle, 7u);
    EXPECT_EQ(message.header.sequence, 9u);
    EXPECT_EQ(message.header.chunk, static_cast<std::uint32_t>(self));
    EXPECT_EQ(message.payload.size(), 100u);
  }
}

}  // namespace
}  // namespace hps::test
