// SPDX-License-Identifier: BSD-3-Clause
// UCX over TCP between transports of one process, and over what UCX picks itself: who is told where a message comes
// from, and when.
#include "transport/ucx/ucx_transport.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>

namespace hps {
namespace {

constexpr std::size_t ranks = 3;

// A rank: it notes which source every message came from. Messages name their sender in their first byte.
class UcxRank final : private TransportHandler {
 public:
  explicit UcxRank(Rank self) : self_(self) {
    const Status created = UcxTransport::create(Log(LogLevel::error, self), &transport_);
    EXPECT_TRUE(created.ok()) << created.to_string();
    transport_->set_handler(*this);
  }
  UcxTransport& transport() { return *transport_; }
  void send(Rank peer, std::size_t payload_bytes) {
    static const std::array<std::byte, 100'000> payload{};
    const std::array<std::byte, 32> header{static_cast<std::byte>(self_)};
    const Status sent = transport_->send(peer, header, ConstBytes(payload).first(payload_bytes), &nobody_);
    EXPECT_TRUE(sent.ok()) << sent.to_string();
  }
  // Sources by sender, of the messages since the last time.
  std::multimap<Rank, Rank> take() { return std::exchange(got_, {}); }
  std::size_t count() const { return got_.size(); }

 private:
  void on_message(Rank source, ConstBytes header, ConstBytes) noexcept override {
    got_.emplace(static_cast<Rank>(header[0]), source);
  }
  void on_peer_failed(Rank, const Status&) noexcept override {}

  struct Nobody final : SendCompletion {
    void on_sent(const Status&) noexcept override {}
  } nobody_;
  Rank self_;
  std::multimap<Rank, Rank> got_;
  std::unique_ptr<UcxTransport> transport_;
};

class UcxTransportTest : public testing::TestWithParam<const char*> {
 protected:
  UcxTransportTest() {
    const char* const before = std::getenv("UCX_TLS");
    const std::string kept = before == nullptr ? "" : before;
    if (*GetParam() != '\0') setenv("UCX_TLS", GetParam(), 1);
    for (std::size_t i = 0; i < ranks; ++i) all_[i] = std::make_unique<UcxRank>(static_cast<Rank>(i));
    if (before == nullptr)
      unsetenv("UCX_TLS");
    else
      setenv("UCX_TLS", kept.c_str(), 1);
    for (auto& one : all_) {
      for (std::size_t peer = 0; peer < ranks; ++peer)
        one->transport().add_peer(static_cast<Rank>(peer), all_[peer]->transport().address());
    }
  }
  // Until `rank` has got so many.
  void run(std::size_t rank, std::size_t messages) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (all_[rank]->count() < messages && std::chrono::steady_clock::now() < deadline) {
      for (auto& one : all_) one->transport().progress();
    }
    ASSERT_EQ(all_[rank]->count(), messages);
  }
  void send_all_to_all(std::size_t bytes) {
    for (std::size_t from = 0; from < ranks; ++from) {
      for (std::size_t to = 0; to < ranks; ++to) {
        if (to != from) all_[from]->send(static_cast<Rank>(to), bytes);
      }
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) run(rank, ranks - 1);
  }

  std::array<std::unique_ptr<UcxRank>, ranks> all_;
};

TEST_P(UcxTransportTest, WhoHasConnectedToTheSenderKnowsIt) {
  using Sources = std::multimap<Rank, Rank>;
  all_[1]->send(0, 8);
  run(0, 1);
  EXPECT_EQ(all_[0]->take(), (Sources{{1, no_rank}})) << "its end of the connection is UCX's own";
  all_[0]->send(1, 8);
  run(1, 1);
  EXPECT_EQ(all_[1]->take(), (Sources{{0, 0}}));
  all_[1]->send(0, 8);
  run(0, 1);
  EXPECT_EQ(all_[0]->take(), (Sources{{1, 1}})) << "the same end, now its own";
}

// Both ends of a connection are opened at once; short messages, chunks, and such as UCX takes to pieces.
TEST_P(UcxTransportTest, AllKnowEachOtherWhenAllHaveConnected) {
  send_all_to_all(0);
  for (auto& one : all_) one->take();
  for (std::size_t bytes : {0u, 8u, 16'384u, 61'440u, 100'000u}) {
    send_all_to_all(bytes);
    for (auto& one : all_) {
      for (const auto& [sender, source] : one->take()) EXPECT_EQ(source, sender) << bytes;
    }
  }
}

// One that has gone takes nothing away from the others.
TEST_P(UcxTransportTest, ASenderIsKnownWhenAnotherHasGone) {
  send_all_to_all(8);
  all_[2]->transport().close();
  for (auto& one : all_) one->take();
  for (int i = 0; i < 100; ++i) {
    all_[0]->send(1, 8);
    run(1, 1);
    EXPECT_EQ(all_[1]->take(), (std::multimap<Rank, Rank>{{0, 0}}));
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, UcxTransportTest, testing::Values("tcp", ""));

}  // namespace
}  // namespace hps
