// SPDX-License-Identifier: BSD-3-Clause
// The fake network without faults: times, order, sharing of ports, counters, steps and timers, the seed.
#include "transport/fake/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "tests/transport/fake/test_rank.h"

namespace hps::fake {
namespace {

constexpr double gigabyte = 1e9;  // a byte a nanosecond: bytes are times

NetworkOptions plain(TimeNs delay_ns) {
  NetworkOptions options;
  options.delay_ns = delay_ns;
  options.header_overhead_bytes = 0;
  return options;
}

std::vector<HostOptions> hosts(std::size_t count, double rate) { return std::vector<HostOptions>(count, {rate}); }

TEST(NetworkTest, MessageTakesUplinkDelayAndDownlink) {
  NetworkOptions options = plain(1000);
  options.header_overhead_bytes = 10;
  Network network(options, {{gigabyte}, {gigabyte / 2}});
  TestRank a(network, 0);
  TestRank b(network, 1);
  TestCompletion sent(network);

  ASSERT_TRUE(a.send(1, "head", std::string(86, 'x'), &sent).ok());
  EXPECT_EQ(sent.told, 0);
  const TimeNs end = network.run();

  EXPECT_EQ(sent.told, 1);
  EXPECT_TRUE(sent.status.ok());
  EXPECT_EQ(sent.at, 100);
  ASSERT_EQ(b.received.size(), 1u);
  EXPECT_EQ(b.received[0], (TestRank::Received{100 + 1000 + 200, 0, "head", std::string(86, 'x')}));
  EXPECT_EQ(end, 1300);
  EXPECT_EQ(network.now(), 1300);
}

TEST(NetworkTest, WithoutRateOnlyDelayCounts) {
  Network network(plain(1000), hosts(2, 0));
  TestRank a(network, 0);
  TestRank b(network, 1);
  TestCompletion sent(network);
  ASSERT_TRUE(a.send(1, "h", "payload", &sent).ok());
  EXPECT_EQ(sent.told, 0) << "completions come by an event";
  network.run();
  EXPECT_EQ(sent.told, 1);
  EXPECT_EQ(sent.at, 0);
  ASSERT_EQ(b.received.size(), 1u);
  EXPECT_EQ(b.received[0].at, 1000);
}

TEST(NetworkTest, RanksOfOneHostDoNotUseThePort) {
  Network network(plain(1000), hosts(1, 1));
  TestRank a(network, 0);
  TestRank b(network, 0);
  TestCompletion sent(network);
  ASSERT_TRUE(a.send(1, "h", "to the neighbour", &sent).ok());
  ASSERT_TRUE(a.send(0, "to itself").ok());
  network.run();
  EXPECT_EQ(sent.at, 0);
  ASSERT_EQ(b.received.size(), 1u);
  EXPECT_EQ(b.received[0].at, 1000);
  EXPECT_EQ(a.headers(), std::vector<std::string>{"to itself"});
  EXPECT_EQ(network.bytes_sent(0), 0u);
  EXPECT_EQ(network.bytes_received(0), 0u);
  EXPECT_EQ(network.messages(), 2u);
}

TEST(NetworkTest, PayloadIsCopiedAndReceiversMayNotKeepIt) {
  Network network(plain(1000), hosts(2, gigabyte));
  TestRank a(network, 0);
  std::string payload = "before";
  TestCompletion sent(network);

  struct Keeper final : TransportHandler {
    void on_message(Rank, ConstBytes, ConstBytes bytes) noexcept override {
      seen = text_of(bytes);
      kept = bytes;
    }
    void on_peer_failed(Rank, const Status&) noexcept override {}
    std::string seen;
    ConstBytes kept;
  } keeper;
  network.add_rank(1, {}).set_handler(keeper);

  ASSERT_TRUE(a.send(1, "h", payload, &sent).ok());
  payload = "after!";
  network.run();
  EXPECT_EQ(keeper.seen, "before");
  EXPECT_NE(text_of(keeper.kept), "before");
}

TEST(NetworkTest, ConnectionKeepsOrder) {
  Network network(plain(1000), hosts(2, gigabyte));
  TestRank a(network, 0);
  TestRank b(network, 1);
  std::vector<std::string> expected;
  for (int i = 0; i < 50; ++i) {
    expected.push_back(std::string(static_cast<std::size_t>(1 + i * 7 % 13), static_cast<char>('A' + i)));
    ASSERT_TRUE(a.send(1, expected.back()).ok());
  }
  network.run();
  EXPECT_EQ(b.headers(), expected);
}

// Many messages to one peer do not make a single one to another wait: connections share the port.
TEST(NetworkTest, ConnectionsShareTheUplinkInTurn) {
  Network network(plain(0), {{gigabyte}, {0}, {0}, {0}});
  TestRank a(network, 0);
  TestRank b(network, 1);
  TestRank c(network, 2);
  TestRank d(network, 3);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(a.send(1, std::string(100, 'b')).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(a.send(2, std::string(100, 'c')).ok());
  ASSERT_TRUE(a.send(3, std::string(100, 'd')).ok());
  network.run();
  const auto times = [](const TestRank& rank) {
    std::vector<TimeNs> all;
    for (const auto& message : rank.received) all.push_back(message.at);
    return all;
  };
  EXPECT_EQ(times(b), (std::vector<TimeNs>{100, 400, 600, 700}));
  EXPECT_EQ(times(c), (std::vector<TimeNs>{200, 500}));
  EXPECT_EQ(times(d), (std::vector<TimeNs>{300}));
}

// Two ranks of one host have connections of their own to the same peer, and one port.
TEST(NetworkTest, RanksOfAHostShareItsUplink) {
  Network network(plain(0), {{gigabyte}, {0}});
  TestRank a(network, 0);
  TestRank b(network, 0);
  TestRank c(network, 1);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(a.send(2, std::string(100, 'a')).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(b.send(2, std::string(100, 'b')).ok());
  EXPECT_EQ(network.run(), 400);
  std::vector<Rank> sources;
  for (const auto& message : c.received) sources.push_back(message.source);
  EXPECT_EQ(sources, (std::vector<Rank>{0, 1, 0, 1}));
}

TEST(NetworkTest, BothDirectionsAtOnce) {
  Network network(plain(0), hosts(2, gigabyte));
  TestRank a(network, 0);
  TestRank b(network, 1);
  ASSERT_TRUE(a.send(1, std::string(100, 'a')).ok());
  ASSERT_TRUE(b.send(0, std::string(100, 'b')).ok());
  EXPECT_EQ(network.run(), 200);
}

TEST(NetworkTest, IncastQueuesAtTheReceiver) {
  constexpr int senders = 5;
  Network network(plain(1000), hosts(senders + 1, gigabyte));
  TestRank receiver(network, 0);
  std::deque<TestRank> ranks;
  for (std::uint32_t i = 1; i <= senders; ++i) ranks.emplace_back(network, i);
  for (TestRank& rank : ranks) ASSERT_TRUE(rank.send(0, std::string(100, 'x')).ok());
  EXPECT_EQ(network.run(), 100 + 1000 + senders * 100);
  EXPECT_EQ(network.peak_queue_bytes(0), (senders - 1) * 100u);
  EXPECT_EQ(network.bytes_received(0), senders * 100u);
  EXPECT_EQ(network.peak_queue_bytes(1), 0u);
}

// A stream at the rate of both ports never waits, whether a delay is longer or shorter than a message.
TEST(NetworkTest, SteadyStreamDoesNotQueue) {
  for (const TimeNs delay : {0, 10, 100, 1000}) {
    Network network(plain(delay), hosts(2, gigabyte));
    TestRank a(network, 0);
    TestRank b(network, 1);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(a.send(1, std::string(100, 'x')).ok());
    EXPECT_EQ(network.run(), 100 * 20 + delay + 100);
    EXPECT_EQ(network.peak_queue_bytes(1), 0u) << "delay " << delay;
    EXPECT_EQ(b.received.size(), 20u);
  }
}

TEST(NetworkTest, CountsBytesWithOverhead) {
  NetworkOptions options = plain(1000);
  options.header_overhead_bytes = 66;
  Network network(options, hosts(2, gigabyte));
  TestRank a(network, 0);
  TestRank b(network, 1);
  TestCompletion sent(network);
  ASSERT_TRUE(a.send(1, "1234", "567890", &sent).ok());
  ASSERT_TRUE(a.send(1, "12").ok());
  network.run();
  EXPECT_EQ(network.bytes_sent(0), 76u + 68u);
  EXPECT_EQ(network.bytes_received(1), 76u + 68u);
  EXPECT_EQ(network.bytes_sent(1), 0u);
  EXPECT_EQ(network.bytes_received(0), 0u);
  EXPECT_EQ(network.messages(), 2u);
}

TEST(NetworkTest, RateCanChangeUnderWay) {
  Network network(plain(0), {{gigabyte}, {0}});
  TestRank a(network, 0);
  TestRank b(network, 1);
  ASSERT_TRUE(a.send(1, std::string(100, '1')).ok());
  ASSERT_TRUE(a.send(1, std::string(100, '2')).ok());
  network.set_rate(0, gigabyte / 10);
  network.run();
  ASSERT_EQ(b.received.size(), 2u);
  EXPECT_EQ(b.received[0].at, 100);
  EXPECT_EQ(b.received[1].at, 1100);
}

TEST(NetworkTest, SendsFromInsideAHandler) {
  Network network(plain(1000), hosts(2, 0));
  TestRank a(network, 0);
  TestRank b(network, 1);
  b.react = [&](const TestRank::Received& message) { ASSERT_TRUE(b.send(0, "re: " + message.header).ok()); };
  ASSERT_TRUE(a.send(1, "ping").ok());
  EXPECT_EQ(network.run(), 2000);
  EXPECT_EQ(a.headers(), std::vector<std::string>{"re: ping"});
}

TEST(NetworkTest, RefusesWhatTheContractForbids) {
  Network network(plain(1000), hosts(1, 0));
  TestRank a(network, 0);
  TestRank b(network, 0);
  TestCompletion sent(network);
  EXPECT_EQ(a.send(2, "h", "p", &sent).code(), Code::invalid_argument);
  EXPECT_EQ(a.send(-1, "h", "p", &sent).code(), Code::invalid_argument);
  EXPECT_EQ(a.send(1, "h", "p", nullptr).code(), Code::invalid_argument);
  network.run();
  EXPECT_EQ(sent.told, 0);
  EXPECT_TRUE(b.received.empty());
}

TEST(NetworkTest, TellsTheChunkSize) {
  NetworkOptions options;
  Network usual(options, hosts(1, 0));
  EXPECT_EQ(TestRank(usual, 0).transport.max_chunk_bytes(), 61440u);
  options.max_chunk_bytes = 1024;
  Network small(options, hosts(1, 0));
  EXPECT_EQ(TestRank(small, 0).transport.max_chunk_bytes(), 1024u);
}

TEST(NetworkStepTest, FollowsEachEventAndWake) {
  Network network(plain(1000), hosts(2, gigabyte));
  TestRank a(network, 0);
  TestRank b(network, 1);
  TestCompletion sent(network);
  ASSERT_TRUE(a.send(1, "", std::string(100, 'x'), &sent).ok());
  network.wake(1);
  network.run();
  EXPECT_EQ(a.steps, (std::vector<TimeNs>{100})) << "after its completion";
  EXPECT_EQ(b.steps, (std::vector<TimeNs>{0, 1200})) << "woken, and after the message";
}

TEST(NetworkStepTest, ComesAgainWhenAsked) {
  Network network(plain(1000), hosts(1, 0));
  TestRank a(network, 0);
  a.on_step = [](TimeNs now) { return now < 300 ? now + 100 : never_ns; };
  network.wake(0);
  EXPECT_EQ(network.run(), 300);
  EXPECT_EQ(a.steps, (std::vector<TimeNs>{0, 100, 200, 300}));
}

// A time-out that was put off is forgotten: it neither steps the rank nor lets time go on.
TEST(NetworkStepTest, OnlyTheLatestTimeCounts) {
  Network network(plain(1000), hosts(1, 0));
  TestRank a(network, 0);
  TestRank b(network, 0);
  std::vector<TimeNs> answers = {5000, 7000, 4000, never_ns};
  a.on_step = [&](TimeNs) {
    const TimeNs answer = answers.front();
    answers.erase(answers.begin());
    return answer;
  };
  network.wake(0);                       // at 0: again at 5000
  ASSERT_TRUE(b.send(0, "first").ok());  // at 1000: again at 7000
  b.on_step = [&](TimeNs now) {
    if (now == 2000) {
      EXPECT_TRUE(b.send(0, "second").ok());  // at 3000: again at 4000
    }
    return now < 2000 ? 2000 : never_ns;
  };
  network.wake(1);
  EXPECT_EQ(network.run(), 4000);
  EXPECT_EQ(a.steps, (std::vector<TimeNs>{0, 1000, 3000, 4000}));
}

TEST(NetworkStepTest, TimeGoesOnWhenAStepAsksForNow) {
  Network network(plain(1000), hosts(1, 0));
  TestRank a(network, 0);
  a.on_step = [](TimeNs now) { return now < 3 ? now : never_ns; };
  network.wake(0);
  EXPECT_EQ(network.run(), 3);
  EXPECT_EQ(a.steps, (std::vector<TimeNs>{0, 1, 2, 3}));
}

TEST(NetworkStepTest, RunEndsAtStopAndDeadlineAndGoesOn) {
  Network network(plain(1000), hosts(2, 0));
  TestRank a(network, 0);
  TestRank b(network, 1);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(a.send(1, std::to_string(i)).ok());
  EXPECT_EQ(network.run({}, 999), 999);
  EXPECT_TRUE(b.received.empty());
  EXPECT_EQ(network.run({}, 500), 999) << "time does not go back";
  EXPECT_EQ(network.run([&] { return b.received.size() == 2; }), 1000);
  EXPECT_EQ(b.received.size(), 2u);
  EXPECT_EQ(network.run({}, 1000), 1000) << "what is due at the deadline is done";
  EXPECT_EQ(b.received.size(), 3u);
  EXPECT_EQ(network.run({}, 5000), 1000) << "nothing more to come";
}

// Everything that four chattering ranks were told, as one number.
std::uint64_t trace_hash(std::uint64_t seed, TimeNs jitter_ns) {
  NetworkOptions options = plain(1000);
  options.jitter_ns = jitter_ns;
  options.seed = seed;
  Network network(options, hosts(4, gigabyte));
  std::uint64_t hash = 14695981039346656037u;
  const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
  std::deque<TestRank> ranks;
  for (std::uint32_t i = 0; i < 4; ++i) {
    TestRank& rank = ranks.emplace_back(network, i);
    rank.react = [&](const TestRank::Received& message) {
      add(static_cast<std::uint64_t>(message.at));
      add(static_cast<std::uint64_t>(message.source));
      add(message.header.size());
      const auto peer = static_cast<Rank>((message.source + 1) % 4);
      if (message.header.size() > 1) {
        EXPECT_TRUE(rank.send(peer, message.header.substr(1)).ok());
      }
    };
  }
  for (TestRank& rank : ranks) {
    for (Rank peer = 0; peer < 4; ++peer) EXPECT_TRUE(rank.send(peer, std::string(40, 'x')).ok());
  }
  network.run();
  EXPECT_EQ(network.messages(), 16u * 40u);
  return hash;
}

TEST(NetworkSeedTest, DecidesTheWholeRun) {
  EXPECT_EQ(trace_hash(1, 500), trace_hash(1, 500));
  EXPECT_NE(trace_hash(1, 500), trace_hash(2, 500));
  EXPECT_EQ(trace_hash(1, 0), trace_hash(2, 0)) << "without jitter nothing is random";
}

TEST(NetworkSeedTest, JitterReordersWithinItsBounds) {
  NetworkOptions options = plain(1000);
  options.jitter_ns = 300;
  Network network(options, hosts(2, 0));
  TestRank a(network, 0);
  TestRank b(network, 1);
  std::vector<std::string> in_order;
  for (int i = 0; i < 100; ++i) {
    in_order.push_back(std::to_string(i));
    ASSERT_TRUE(a.send(1, in_order.back()).ok());
  }
  network.run();
  ASSERT_EQ(b.received.size(), 100u);
  EXPECT_NE(b.headers(), in_order);
  std::vector<std::string> got = b.headers();
  EXPECT_TRUE(std::is_permutation(got.begin(), got.end(), in_order.begin()));
  EXPECT_GE(b.received.front().at, 1000);
  EXPECT_LE(b.received.back().at, 1300);
  EXPECT_GT(b.received.back().at - b.received.front().at, 200) << "the whole range is used";
}

}  // namespace
}  // namespace hps::fake
