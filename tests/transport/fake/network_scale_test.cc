// SPDX-License-Identifier: BSD-3-Clause
// The fake network at the size of a large job: it must stay quick, and memory must follow use, or nobody will test
// protocols at that size.
#include <gtest/gtest.h>

#include <deque>

#include "transport/fake/network.h"

namespace hps::fake {
namespace {

// Passes every message on to the next rank, until it has gone round `rounds` times.
class RingRank final : public TransportHandler {
 public:
  RingRank(Network& network, std::uint32_t host, Rank size, std::uint32_t rounds)
      : rank_(static_cast<Rank>(host)),
        size_(size),
        rounds_(rounds),
        transport_(network.add_rank(host, [](TimeNs now) { return now + 300'000'000'000; })) {
    transport_.set_handler(*this);
  }

  void start() { pass(0); }

  void on_message(Rank source, ConstBytes header, ConstBytes) noexcept override {
    EXPECT_EQ(source, (rank_ + size_ - 1) % size_);
    std::uint32_t hops = 0;
    ASSERT_EQ(header.size(), sizeof hops);
    std::copy(header.begin(), header.end(), std::as_writable_bytes(std::span(&hops, 1)).begin());
    ++received_;
    if (hops + 1 < rounds_ * static_cast<std::uint32_t>(size_)) pass(hops + 1);
  }
  void on_peer_failed(Rank, const Status&) noexcept override { ADD_FAILURE(); }

  std::uint64_t received() const noexcept { return received_; }

 private:
  void pass(std::uint32_t hops) noexcept {
    EXPECT_TRUE(transport_.send((rank_ + 1) % size_, std::as_bytes(std::span(&hops, 1)), {}, nullptr).ok());
  }

  const Rank rank_;
  const Rank size_;
  const std::uint32_t rounds_;
  Transport& transport_;
  std::uint64_t received_ = 0;
};

// Every rank's message goes round once: size squared messages, with a far time-out moved at every one of them.
TEST(NetworkScaleTest, RingOf1536) {
  constexpr Rank size = 1536;
  NetworkOptions options;
  options.jitter_ns = 20'000;
  Network network(options, std::vector<HostOptions>(size, {1e9}));
  std::deque<RingRank> ranks;
  for (Rank i = 0; i < size; ++i) ranks.emplace_back(network, static_cast<std::uint32_t>(i), size, 1);
  for (RingRank& rank : ranks) rank.start();
  constexpr std::uint64_t expected = static_cast<std::uint64_t>(size) * size;
  network.run([&] { return network.messages() == expected; });
  for (const RingRank& rank : ranks) EXPECT_EQ(rank.received(), static_cast<std::uint64_t>(size));
  EXPECT_LT(network.now(), 1536 * 100'000);
}

}  // namespace
}  // namespace hps::fake
