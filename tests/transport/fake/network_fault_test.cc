// SPDX-License-Identifier: BSD-3-Clause
// The fake network's faults: ranks that are killed or stopped, connections that break.
#include <gtest/gtest.h>

#include <deque>

#include "tests/transport/fake/test_rank.h"
#include "transport/fake/network.h"

namespace hps::fake {
namespace {

constexpr TimeNs delay = 1000;

class NetworkFaultTest : public testing::Test {
 protected:
  // Three ranks, each on a host of its own whose port moves a byte a nanosecond.
  NetworkFaultTest() : network(options(), std::vector<HostOptions>(3, {1e9})) {
    for (std::uint32_t host = 0; host < 3; ++host) ranks.emplace_back(network, host);
  }

  static NetworkOptions options() {
    NetworkOptions plain;
    plain.delay_ns = delay;
    plain.header_overhead_bytes = 0;
    return plain;
  }

  // Opens the connection of two ranks.
  void greet(Rank a, Rank b) {
    ASSERT_TRUE(rank(a).send(b, "hello").ok());
    network.run();
    rank(b).received.clear();
    rank(a).steps.clear();
    rank(b).steps.clear();
  }

  TestRank& rank(Rank number) { return ranks[static_cast<std::size_t>(number)]; }

  Network network;
  std::deque<TestRank> ranks;
};

TEST_F(NetworkFaultTest, KillTellsEveryPeerOnce) {
  greet(0, 1);
  greet(2, 1);
  network.kill(1);
  network.kill(1);
  network.run();
  for (const Rank peer : {0, 2}) {
    ASSERT_EQ(rank(peer).failed.size(), 1u);
    EXPECT_EQ(rank(peer).failed[0].peer, 1);
    EXPECT_EQ(rank(peer).failed[0].why.code(), Code::peer_failed);
    EXPECT_EQ(rank(peer).failed[0].why.who(), 1);
    EXPECT_EQ(rank(peer).steps.size(), 1u) << "a step follows";
  }
  EXPECT_TRUE(rank(1).failed.empty());
}

TEST_F(NetworkFaultTest, KillDoesNotTellThoseWithoutAConnection) {
  greet(0, 1);
  network.kill(1);
  network.run();
  EXPECT_EQ(rank(0).failed.size(), 1u);
  EXPECT_TRUE(rank(2).failed.empty());
  const Status status = rank(2).send(1, "too late");
  EXPECT_EQ(status.code(), Code::peer_failed);
  EXPECT_EQ(status.who(), 1);
  network.run();
  EXPECT_TRUE(rank(2).failed.empty()) << "the refusal was the message";
}

TEST_F(NetworkFaultTest, KilledRankRunsNoMore) {
  TestCompletion sent(network);
  rank(1).on_step = [](TimeNs now) { return now + 10; };
  network.wake(1);
  ASSERT_TRUE(rank(0).send(1, "on its way").ok());
  ASSERT_TRUE(rank(1).send(0, "h", std::string(100, 'x'), &sent).ok());
  network.run({}, 50);
  const std::size_t steps = rank(1).steps.size();
  EXPECT_EQ(steps, 6u);
  network.kill(1);
  network.wake(1);
  network.run();
  EXPECT_EQ(rank(1).steps.size(), steps);
  EXPECT_TRUE(rank(1).received.empty());
  EXPECT_TRUE(rank(0).received.empty()) << "its message vanished with it";
  EXPECT_EQ(sent.told, 0);
  EXPECT_EQ(rank(1).send(0, "h").code(), Code::transport);
  EXPECT_EQ(network.messages(), 0u);
}

TEST_F(NetworkFaultTest, RankMayBeKilledFromItsOwnHandler) {
  rank(1).on_step = [](TimeNs now) { return now + 1; };
  rank(1).react = [&](const TestRank::Received&) { network.kill(1); };
  ASSERT_TRUE(rank(0).send(1, "poison").ok());
  ASSERT_TRUE(rank(0).send(1, "more").ok());
  network.run();
  EXPECT_EQ(rank(1).received.size(), 1u);
  EXPECT_TRUE(rank(1).steps.empty());
  EXPECT_EQ(rank(0).failed.size(), 1u);
}

TEST_F(NetworkFaultTest, RankMayBeKilledFromItsOwnStep) {
  rank(1).on_step = [&](TimeNs now) {
    network.kill(1);
    return now + 1;
  };
  network.wake(1);
  EXPECT_EQ(network.run(), 0);
  EXPECT_EQ(rank(1).steps.size(), 1u);
}

// One message each: on the wire, on the uplink, waiting for it. All complete exactly once.
TEST_F(NetworkFaultTest, BreakCompletesEverySendOnce) {
  std::deque<TestCompletion> sent;
  for (int i = 0; i < 3; ++i) {
    sent.emplace_back(network);
    ASSERT_TRUE(rank(0).send(1, "", std::string(100, 'x'), &sent.back()).ok());
  }
  network.run({}, 150);
  network.break_connection(1, 0);
  EXPECT_TRUE(rank(0).failed.empty()) << "told by an event, not inside the call";
  network.run();

  EXPECT_TRUE(sent[0].status.ok());
  EXPECT_EQ(sent[1].status.code(), Code::peer_failed);
  EXPECT_EQ(sent[1].at, 200);
  EXPECT_EQ(sent[2].status.code(), Code::peer_failed);
  EXPECT_EQ(sent[2].status.who(), 1);
  EXPECT_EQ(sent[2].at, 150);
  for (const TestCompletion& completion : sent) EXPECT_EQ(completion.told, 1);
  EXPECT_TRUE(rank(1).received.empty()) << "also what was on the wire vanished";
  EXPECT_EQ(network.bytes_sent(0), 200u);
}

TEST_F(NetworkFaultTest, BreakTellsBothEndsOnceAndIsForGood) {
  greet(0, 1);
  network.break_connection(0, 1);
  network.break_connection(1, 0);
  EXPECT_EQ(rank(0).send(1, "h").code(), Code::peer_failed);
  network.run();
  ASSERT_EQ(rank(0).failed.size(), 1u);
  EXPECT_EQ(rank(0).failed[0].peer, 1);
  ASSERT_EQ(rank(1).failed.size(), 1u);
  EXPECT_EQ(rank(1).failed[0].peer, 0);
  EXPECT_EQ(rank(1).failed[0].why.code(), Code::peer_failed);
  EXPECT_EQ(rank(1).send(0, "h").code(), Code::peer_failed);
  network.kill(1);
  network.run();
  EXPECT_EQ(rank(0).failed.size(), 1u) << "the broken connection does not break again";
}

TEST_F(NetworkFaultTest, BreakLeavesOtherConnectionsAlone) {
  TestCompletion sent(network);
  ASSERT_TRUE(rank(0).send(1, std::string(100, '1')).ok());
  ASSERT_TRUE(rank(0).send(1, std::string(100, '2')).ok());
  ASSERT_TRUE(rank(0).send(2, "h", "for rank 2", &sent).ok());
  network.break_connection(0, 1);
  network.run();
  EXPECT_TRUE(sent.status.ok());
  ASSERT_EQ(rank(2).received.size(), 1u);
  EXPECT_EQ(rank(2).received[0].payload, "for rank 2");
  ASSERT_TRUE(rank(2).send(0, "and back").ok());
  network.run();
  EXPECT_EQ(rank(0).headers(), std::vector<std::string>{"and back"});
}

TEST_F(NetworkFaultTest, BreakOfAConnectionNeverOpened) {
  network.break_connection(0, 2);
  network.run();
  EXPECT_EQ(rank(0).failed.size(), 1u);
  EXPECT_EQ(rank(2).failed.size(), 1u);
  EXPECT_EQ(rank(0).send(2, "h").code(), Code::peer_failed);
}

TEST(NetworkLocalFaultTest, BreakOnOneHost) {
  Network network(NetworkOptions{}, {{0}});
  TestRank a(network, 0);
  TestRank b(network, 0);
  TestCompletion sent(network);
  ASSERT_TRUE(a.send(1, "h", "p", &sent).ok());
  network.break_connection(0, 1);
  network.run();
  EXPECT_EQ(sent.told, 1);
  EXPECT_EQ(sent.status.code(), Code::peer_failed);
  EXPECT_TRUE(b.received.empty());
  network.break_connection(0, 0);
  network.run();
  EXPECT_EQ(a.failed.size(), 2u) << "its own connection has one end to tell";
}

TEST_F(NetworkFaultTest, StoppedRankGetsAllLater) {
  rank(1).on_step = [](TimeNs now) { return now < 100 ? 100 : never_ns; };
  network.wake(1);
  network.run({}, 50);
  TestCompletion sent(network);
  ASSERT_TRUE(rank(1).send(2, "", std::string(10, 'x'), &sent).ok());
  network.stop(1);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(rank(0).send(1, std::to_string(i)).ok());
  network.run();
  EXPECT_TRUE(rank(1).received.empty());
  EXPECT_EQ(rank(1).steps, (std::vector<TimeNs>{0})) << "its timer waits too";
  EXPECT_EQ(sent.told, 0);
  EXPECT_EQ(rank(2).received.size(), 1u) << "what it had sent goes on";
  EXPECT_TRUE(rank(0).failed.empty()) << "stopped is not failed";

  const TimeNs resumed = network.now();
  network.resume(1);
  network.run();
  EXPECT_EQ(rank(1).headers(), (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(rank(1).received[2].at, resumed);
  EXPECT_EQ(sent.told, 1);
  EXPECT_EQ(rank(1).steps, (std::vector<TimeNs>{0, resumed, resumed, resumed, resumed, resumed}))
      << "three messages, a completion and the resumption";
}

// With ports that take no time three messages are due at one moment, and the rank is resumed between them.
TEST(NetworkResumeTest, KeepsOrderWithWhatComesAtThatMoment) {
  Network network(NetworkOptions{}, std::vector<HostOptions>(2));
  TestRank a(network, 0);
  TestRank b(network, 1);
  network.stop(1);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(a.send(1, std::to_string(i)).ok());
  network.run([&] { return network.bytes_received(1) > 0; });
  ASSERT_TRUE(b.received.empty());
  network.resume(1);
  network.run();
  EXPECT_EQ(b.headers(), (std::vector<std::string>{"0", "1", "2"}));
}

TEST_F(NetworkFaultTest, StoppedRankHoldsNoTime) {
  rank(1).on_step = [](TimeNs now) { return now + 1'000'000; };
  network.wake(1);
  EXPECT_EQ(network.run({}, 10), 10);
  network.stop(1);
  network.wake(1);
  EXPECT_EQ(network.run(), 10) << "its timer does not keep the network running";
  EXPECT_EQ(rank(1).steps.size(), 1u);
}

TEST_F(NetworkFaultTest, RankMayBeStoppedFromItsOwnHandler) {
  rank(1).react = [&](const TestRank::Received&) { network.stop(1); };
  ASSERT_TRUE(rank(0).send(1, "halt").ok());
  network.run();
  EXPECT_EQ(rank(1).received.size(), 1u);
  EXPECT_TRUE(rank(1).steps.empty());
  network.resume(1);
  network.run();
  EXPECT_EQ(rank(1).steps.size(), 1u);
  network.resume(1);
  network.run();
  EXPECT_EQ(rank(1).steps.size(), 1u) << "a rank that runs is not resumed";
}

TEST_F(NetworkFaultTest, StoppedAgainWhileCatchingUp) {
  network.stop(1);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(rank(0).send(1, std::to_string(i)).ok());
  network.run();
  rank(1).react = [&](const TestRank::Received& message) {
    if (message.header == "1") network.stop(1);
  };
  network.resume(1);
  network.run();
  EXPECT_EQ(rank(1).headers(), (std::vector<std::string>{"0", "1"}));
  network.resume(1);
  network.run();
  EXPECT_EQ(rank(1).headers(), (std::vector<std::string>{"0", "1", "2", "3"}));
}

TEST_F(NetworkFaultTest, StoppedRankLearnsOfFailuresWhenResumed) {
  greet(0, 1);
  network.stop(0);
  ASSERT_TRUE(rank(1).send(0, "last words").ok());
  network.run();
  network.kill(1);
  network.run();
  EXPECT_TRUE(rank(0).failed.empty());
  network.resume(0);
  network.run();
  EXPECT_EQ(rank(0).failed.size(), 1u);
  EXPECT_TRUE(rank(0).received.empty()) << "messages of a broken connection vanish";
}

TEST_F(NetworkFaultTest, StoppedRankCanBeKilled) {
  network.stop(1);
  ASSERT_TRUE(rank(0).send(1, "h").ok());
  network.run();
  network.kill(1);
  network.stop(1);
  network.resume(1);
  network.run();
  EXPECT_TRUE(rank(1).received.empty());
  EXPECT_TRUE(rank(1).steps.empty());
  EXPECT_EQ(rank(0).failed.size(), 1u);
}

}  // namespace
}  // namespace hps::fake
