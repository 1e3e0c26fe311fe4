// SPDX-License-Identifier: BSD-3-Clause
// The end of a job: all workers come to it together and the CPU-only ranks after them; once a rank is lost nobody
// waits.
#include "engine/shutdown.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace hps {
namespace {

constexpr TimeNs second_ns = 1'000'000'000;
const Status no_loss;

// One rank: what it sends goes to the others, and pings are noted.
class Process final : public Outbox {
 public:
  struct Message {
    Rank to = no_rank;
    wire::Header header;
    std::vector<std::byte> payload;
  };

  Process(Rank self, std::deque<Message>* wire)
      : liveness_(self, 8 * second_ns, *this), shutdown_(self, *this, liveness_), wire_(wire) {}

  Status send(Rank, wire::Header, ConstBytes, SendCompletion*) override { return {Code::internal, "not used"}; }
  Status send_copy(Rank to, const wire::Header& header, std::vector<std::byte> payload) override {
    if (header.type == wire::MessageType::ping)
      asked.insert(to);
    else
      wire_->push_back({to, header, std::move(payload)});
    return {};
  }

  Shutdown& shutdown() { return shutdown_; }
  std::set<Rank> asked;

 private:
  Liveness liveness_;
  Shutdown shutdown_;
  std::deque<Message>* wire_;
};

// Ranks 0, 2 and 3 are workers, 1 and 4 serve.
class ShutdownTest : public testing::Test {
 protected:
  ShutdownTest() {
    for (Rank rank = 0; rank < 5; ++rank) {
      processes_.push_back(std::make_unique<Process>(rank, &wire_));
      at(rank).open({0, 2, 3}, {1, 4});
    }
  }

  Shutdown& at(Rank rank) { return processes_[static_cast<std::size_t>(rank)]->shutdown(); }
  const std::set<Rank>& asked_by(Rank rank) { return processes_[static_cast<std::size_t>(rank)]->asked; }

  // Until nothing moves; the dead neither hear nor speak.
  void run(TimeNs now = 0) {
    do {
      for (; !wire_.empty(); wire_.pop_front()) {
        ++sent_;
        const Process::Message message = wire_.front();
        if (dead_.contains(message.to)) continue;
        EXPECT_TRUE(at(message.to).on_message(message.header, message.payload));
      }
      for (Rank rank = 0; rank < 5; ++rank) {
        if (!dead_.contains(rank)) at(rank).step(now);
      }
    } while (!wire_.empty());
  }

  void lose(Rank rank, const std::vector<Rank>& witnesses) {
    dead_.insert(rank);
    for (Rank witness : witnesses)
      at(witness).on_peer_failed(rank, {Code::peer_failed, "lost rank " + std::to_string(rank), rank});
  }

  std::set<Rank> complete() {
    std::set<Rank> ranks;
    for (Rank rank = 0; rank < 5; ++rank) {
      if (at(rank).complete()) ranks.insert(rank);
    }
    return ranks;
  }

  std::deque<Process::Message> wire_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::set<Rank> dead_;
  int sent_ = 0;
};

TEST_F(ShutdownTest, WaitsForEveryWorker) {
  for (Rank rank : {3, 0}) at(rank).begin();
  run();
  EXPECT_EQ(complete(), std::set<Rank>{});
  at(2).begin();
  run();
  EXPECT_EQ(complete(), (std::set<Rank>{0, 1, 2, 3, 4}));
  EXPECT_EQ(sent_, 2 * 2 + 2);
  for (Rank rank = 0; rank < 5; ++rank) EXPECT_TRUE(at(rank).loss().ok());
}

TEST_F(ShutdownTest, DoesNotWaitForWorkersOnceOneIsLost) {
  at(2).begin();
  run();
  lose(3, {2});
  run();
  EXPECT_EQ(complete(), std::set<Rank>{2});
  EXPECT_EQ(at(0).loss().who(), 3);  // told by rank 2
  at(0).begin();
  run();
  // Nobody has told the CPU-only ranks that rank 3 is gone.
  EXPECT_EQ(complete(), (std::set<Rank>{0, 2}));
  for (Rank rank : {1, 4}) at(rank).on_peer_ended(3, no_loss);
  run();
  EXPECT_EQ(complete(), (std::set<Rank>{
                            0,
                            1,
                            2,
                            4,
                        }));
  EXPECT_EQ(at(4).loss().who(), 3);
}

TEST_F(ShutdownTest, EndsWithoutItsRoot) {
  for (Rank rank : {2, 3}) at(rank).begin();
  run();
  lose(0, {1, 2, 3, 4});
  run();
  EXPECT_EQ(complete(), (std::set<Rank>{1, 2, 3, 4}));
  EXPECT_EQ(at(3).loss().who(), 0);
}

// A root that ends in good order, without having told anybody: others take its place.
TEST_F(ShutdownTest, AnotherRootTakesOver) {
  for (Rank rank : {2, 3}) at(rank).begin();
  run();
  dead_.insert(0);
  for (Rank rank : {2, 3}) at(rank).on_peer_ended(0, no_loss);
  run();
  EXPECT_EQ(complete(), (std::set<Rank>{1, 2, 3, 4}));
  EXPECT_TRUE(at(3).loss().ok());
}

TEST_F(ShutdownTest, CpuOnlyRanksEndWhenAllWorkersAreLost) {
  for (Rank rank : {0, 2, 3}) lose(rank, {1});
  run();
  EXPECT_EQ(complete(), std::set<Rank>{1});
}

// Ranks that have met to measure their links alone take no leave of each other.
TEST_F(ShutdownTest, AWorkerThatGoesWithoutAWordIsLostWhereTheRootSaysSo) {
  const Status closed(Code::peer_failed, "lost rank 3", 3);
  for (Rank rank : {1, 2}) at(rank).on_peer_ended(3, closed);
  run();
  for (Rank rank : {1, 2}) EXPECT_TRUE(at(rank).loss().ok());
  at(0).on_peer_ended(3, closed);
  EXPECT_EQ(at(0).loss().who(), 3);
  at(0).begin();
  run();
  EXPECT_EQ(at(2).loss().who(), 3);
}

TEST_F(ShutdownTest, TheRootDoesNotGoWithoutAWord) {
  at(1).on_peer_ended(0, {Code::peer_failed, "lost rank 0", 0});
  EXPECT_EQ(at(1).loss().who(), 0);
  at(4).on_peer_ended(1, {Code::peer_failed, "lost rank 1", 1});
  EXPECT_TRUE(at(4).loss().ok()) << "it serves";
}

TEST_F(ShutdownTest, AsksForWhomItWaits) {
  for (Rank rank : {0, 3}) at(rank).begin();
  run(second_ns / 2);
  EXPECT_TRUE(asked_by(0).empty());
  run(2 * second_ns);
  EXPECT_EQ(asked_by(0), (std::set<Rank>{2}));  // rank 3 is done
  EXPECT_EQ(asked_by(3), (std::set<Rank>{0}));
  EXPECT_EQ(asked_by(4), (std::set<Rank>{0}));
  EXPECT_TRUE(asked_by(2).empty());  // it waits for nobody
  lose(0, {4});
  run(2 * second_ns);
  EXPECT_EQ(asked_by(4), (std::set<Rank>{0, 2}));
}

TEST_F(ShutdownTest, RejectsWhatIsNoWorkers) {
  wire::Header header;
  header.type = wire::MessageType::shutdown;
  for (std::uint32_t sender : {0u, 1u, 4u, 99u}) {
    header.chunk = sender;
    EXPECT_FALSE(at(0).on_message(header, {})) << sender;
  }
  header.chunk = 2;
  header.signature.count = 2;
  EXPECT_FALSE(at(0).on_message(header, {}));
}

}  // namespace
}  // namespace hps
