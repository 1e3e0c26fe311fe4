// SPDX-License-Identifier: BSD-3-Clause
#include "engine/liveness.h"

#include <gtest/gtest.h>

#include "engine/recording_outbox.h"

namespace hps::test {
namespace {

using wire::MessageType;

constexpr Rank self = 3;
constexpr TimeNs second = 1'000'000'000;
constexpr TimeNs timeout = 8 * second;
constexpr TimeNs begin = 5000 * second;  // a clock does not begin at 0

wire::Header message(MessageType type, Rank from) {
  wire::Header header;
  header.type = type;
  header.chunk = static_cast<std::uint32_t>(from);
  return header;
}

class LivenessTest : public testing::Test {
 protected:
  // Looks whenever there may be something to find; when the first ranks were found, never_ns if none were by `until`.
  TimeNs first_loss(std::vector<Rank>* lost, TimeNs until = never_ns) {
    for (TimeNs now = liveness_.next(); now < until; now = liveness_.next()) {
      *lost = liveness_.overdue(now);
      if (!lost->empty()) return now;
      if (liveness_.next() <= now) ADD_FAILURE() << "it wants to be asked again at once, and finds nothing";
      if (liveness_.next() <= now) break;
    }
    return never_ns;
  }

  RecordingOutbox outbox_;
  Liveness liveness_{self, timeout, outbox_};
};

TEST_F(LivenessTest, IsAskedForAtAQuarterOfTheTimeOutAndAtLeastEveryFifteenSeconds) {
  EXPECT_EQ(liveness_.interval_ns(), 2 * second);
  EXPECT_EQ(Liveness(self, 3600 * second, outbox_).interval_ns(), 15 * second);
  EXPECT_EQ(Liveness(self, 1, outbox_).interval_ns(), 1);
}

TEST_F(LivenessTest, WithoutATimeOutAsksNobodyAndLosesNobody) {
  Liveness liveness(self, 0, outbox_);
  EXPECT_EQ(liveness.interval_ns(), never_ns);
  liveness.ask(5, begin);
  EXPECT_TRUE(outbox_.take().empty());
  EXPECT_EQ(liveness.next(), never_ns);
}

TEST_F(LivenessTest, AsksARankOnceUntilItAnswersAndNeverItself) {
  liveness_.ask(5, begin);
  liveness_.ask(5, begin + 1);
  liveness_.ask(self, begin + 1);
  const auto sent = outbox_.take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].to, 5);
  EXPECT_EQ(sent[0].header, message(MessageType::ping, self));
  EXPECT_TRUE(liveness_.on_message(message(MessageType::pong, 5)));
  liveness_.ask(5, begin + 2);
  EXPECT_EQ(outbox_.take().size(), 1u);
}

TEST_F(LivenessTest, AnswersWhoeverAsks) {
  EXPECT_TRUE(liveness_.on_message(message(MessageType::ping, 7)));
  const auto sent = outbox_.take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].to, 7);
  EXPECT_EQ(sent[0].header, message(MessageType::pong, self));
}

TEST_F(LivenessTest, AnAnswerThatNobodyAskedForDoesNotFit) {
  EXPECT_FALSE(liveness_.on_message(message(MessageType::pong, 5)));
  liveness_.ask(5, begin);
  EXPECT_TRUE(liveness_.on_message(message(MessageType::pong, 5)));
  EXPECT_FALSE(liveness_.on_message(message(MessageType::pong, 5)));
}

TEST_F(LivenessTest, ARankThatDoesNotAnswerIsLostOnceWhenTheTimeIsOver) {
  liveness_.ask(5, begin);
  std::vector<Rank> lost;
  EXPECT_EQ(first_loss(&lost), begin + timeout);
  EXPECT_EQ(lost, std::vector<Rank>{5});
  EXPECT_EQ(liveness_.next(), never_ns);
}

// Its first look must not take the time before anybody was asked for a sleep.
TEST_F(LivenessTest, LosesNobodyLateHoweverLongTheTimeOut) {
  for (TimeNs long_timeout : {second, 60 * second, 600 * second}) {
    Liveness liveness(self, long_timeout, outbox_);
    for (TimeNs asked : {begin, 2 * begin}) {
      liveness.ask(5, asked);
      std::vector<Rank> lost;
      TimeNs now = asked;
      while (lost.empty() && liveness.next() != never_ns) lost = liveness.overdue(now = liveness.next());
      EXPECT_EQ(now - asked, long_timeout);
    }
  }
}

TEST_F(LivenessTest, WhoeverAnswersInTimeIsNotLostWithTheOthers) {
  liveness_.ask(5, begin);
  liveness_.ask(6, begin + second);
  liveness_.ask(7, begin + second);
  EXPECT_TRUE(liveness_.on_message(message(MessageType::pong, 5)));
  liveness_.forget(7);
  std::vector<Rank> lost;
  EXPECT_EQ(first_loss(&lost), begin + second + timeout);
  EXPECT_EQ(lost, std::vector<Rank>{6});
}

TEST_F(LivenessTest, ARankThatCannotBeReachedOwesNoAnswer) {
  outbox_.unreachable = 5;
  liveness_.ask(5, begin);
  EXPECT_EQ(liveness_.next(), never_ns);
}

TEST_F(LivenessTest, AProcessThatWasStoppedItselfGivesTheOthersTimeToAnswer) {
  liveness_.ask(5, begin);
  EXPECT_TRUE(liveness_.overdue(begin + second).empty());
  const TimeNs woke = begin + 3600 * second;
  EXPECT_TRUE(liveness_.overdue(woke).empty());
  EXPECT_GT(liveness_.next(), woke);
  std::vector<Rank> lost;
  EXPECT_EQ(first_loss(&lost, woke + timeout / 2), never_ns);
  EXPECT_EQ(first_loss(&lost), woke + timeout / 2);
  EXPECT_EQ(lost, std::vector<Rank>{5});
}

}  // namespace
}  // namespace hps::test
