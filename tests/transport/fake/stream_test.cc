// SPDX-License-Identifier: BSD-3-Clause
// Connections that behave as TCP's: windows, what a full queue loses, order, token buckets.
#include "transport/fake/stream.h"

#include <gtest/gtest.h>

#include <deque>

#include "tests/transport/fake/test_rank.h"

namespace hps::fake {
namespace {

constexpr TimeNs ms = 1'000'000;
constexpr double gigabyte = 1e9;  // a byte a nanosecond: bytes are times

NetworkOptions streams(TimeNs delay_ns) {
  NetworkOptions options;
  options.delay_ns = delay_ns;
  options.header_overhead_bytes = 0;
  options.streams = true;
  options.stream.segment_bytes = 1000;
  return options;
}

// Ranks 1 .. senders each on a host of its own send to rank 0.
struct Incast {
  Incast(const NetworkOptions& options, const HostOptions& host, std::uint32_t senders)
      : network(options, std::vector<HostOptions>(senders + 1, host)) {
    for (std::uint32_t rank = 0; rank <= senders; ++rank) ranks.emplace_back(network, rank);
  }
  void send(Rank from, int messages, std::size_t bytes) {
    for (int i = 0; i < messages; ++i) {
      completions.emplace_back(network);
      EXPECT_TRUE(ranks[static_cast<std::size_t>(from)]
                      .send(0, std::to_string(100 + i), std::string(bytes, 'x'), &completions.back())
                      .ok());
    }
  }
  std::vector<int> order_of(Rank from) const {
    std::vector<int> order;
    for (const TestRank::Received& message : ranks[0].received)
      if (message.source == from) order.push_back(std::stoi(message.header) - 100);
    return order;
  }

  Network network;
  std::deque<TestRank> ranks;
  std::deque<TestCompletion> completions;
};

std::vector<int> counted(int end) {
  std::vector<int> numbers;
  for (int i = 0; i < end; ++i) numbers.push_back(i);
  return numbers;
}

TEST(StreamTest, TheWindowDoublesARoundTrip) {
  Incast job(streams(5 * ms), {gigabyte}, 1);
  job.send(1, 70, 997);
  job.network.run();
  ASSERT_EQ(job.order_of(1), counted(70));
  // Ten segments in the first round trip, then 20, then 40.
  const auto at = [&](std::size_t message) { return job.ranks[0].received[message].at; };
  EXPECT_LT(at(9), 6 * ms);
  EXPECT_GE(at(11), 15 * ms);
  EXPECT_LT(at(28), 16 * ms);
  EXPECT_GE(at(31), 25 * ms);
  EXPECT_LT(at(69), 26 * ms);
}

TEST(StreamTest, WhatAFullQueueLosesComesInOrder) {
  HostOptions host{gigabyte};
  host.downlink_queue_bytes = 3000;
  Incast job(streams(10'000), host, 4);
  for (Rank sender = 1; sender <= 4; ++sender) job.send(sender, 40, 900);
  job.network.run();
  EXPECT_GT(job.network.losses(), 0u);
  for (Rank sender = 1; sender <= 4; ++sender) EXPECT_EQ(job.order_of(sender), counted(40));
  EXPECT_LE(job.network.peak_queue_bytes(0), 3000u);
}

TEST(StreamTest, TheLastOneLostTakesATimeout) {
  HostOptions host{gigabyte};
  host.downlink_queue_bytes = 1000;
  Incast job(streams(10'000), host, 4);
  for (Rank sender = 1; sender <= 4; ++sender) job.send(sender, 1, 900);
  const TimeNs end = job.network.run();
  EXPECT_GT(job.network.losses(), 0u);
  EXPECT_GT(end, 200 * ms);
  EXPECT_EQ(job.ranks[0].received.size(), 4u);
}

TEST(StreamTest, AFullPortRefusesAndIsTriedAgain) {
  HostOptions host{gigabyte};
  host.uplink_queue_bytes = 2000;
  NetworkOptions options = streams(10'000);
  Network network(options, std::vector<HostOptions>(6, host));
  std::deque<TestRank> ranks;
  std::deque<TestCompletion> completions;
  for (std::uint32_t rank = 0; rank < 6; ++rank) ranks.emplace_back(network, rank);
  for (int i = 0; i < 20; ++i) {
    for (Rank to = 1; to < 6; ++to) {
      completions.emplace_back(network);
      ASSERT_TRUE(ranks[0].send(to, std::to_string(i), std::string(900, 'x'), &completions.back()).ok());
    }
  }
  network.run();
  EXPECT_GT(network.losses(), 0u);
  for (std::size_t to = 1; to < 6; ++to) EXPECT_EQ(ranks[to].received.size(), 20u);
  for (const TestCompletion& completion : completions) EXPECT_EQ(completion.told, 1);
}

TEST(StreamTest, ABucketLetsABurstThrough) {
  HostOptions host{gigabyte / 1000};
  host.burst_bytes = 10'000;
  Incast job(streams(10'000), host, 1);
  job.send(1, 12, 997);
  job.network.run();
  EXPECT_LT(job.ranks[0].received[9].at, 1 * ms);
  EXPECT_GE(job.ranks[0].received[11].at, 2 * ms);
  EXPECT_LT(job.ranks[0].received[11].at, 3 * ms);
}

TEST(StreamTest, SegmentsPassAFreeLinkAsTheyCome) {
  Incast job(streams(10'000), {gigabyte}, 1);
  job.send(1, 1, 7997);
  job.network.run();
  EXPECT_EQ(job.ranks[0].received[0].at, 8000 + 10'000 + 1000);
}

TEST(StreamTest, ABrokenConnectionLosesWhatWaits) {
  Incast job(streams(5 * ms), {gigabyte}, 1);
  job.send(1, 70, 997);
  job.network.run({}, 1 * ms);
  job.network.break_connection(0, 1);
  job.network.run();
  EXPECT_TRUE(job.ranks[0].received.empty());
  for (const TestCompletion& completion : job.completions) EXPECT_EQ(completion.told, 1);
}

}  // namespace
}  // namespace hps::fake
