// SPDX-License-Identifier: BSD-3-Clause
// The driver with real threads: users who wait, several at once, and the background thread that serves while nobody
// does.
#include "engine/driver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "coll/select.h"
#include "engine/local_transport.h"
#include "plan/layout.h"

namespace hps::test {
namespace {

// Three workers and one CPU-only rank that has no user thread at all.
class DriverTest : public testing::Test {
 protected:
  static constexpr std::uint32_t workers = 3;
  static constexpr std::uint32_t ranks = 4;

  DriverTest() {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      transports_.push_back(std::make_unique<LocalTransport>(hub_));
      hub_.push_back(transports_.back().get());
      const EngineOptions options{static_cast<Rank>(rank), 7, 16u << 20, 1, 0, {}, Log(LogLevel::error, 0)};
      engines_.push_back(std::make_unique<Engine>(options, *transports_.back()));
      for (std::uint32_t peer = 0; peer < ranks; ++peer) engines_.back()->add_peer(static_cast<Rank>(peer), 7);
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      drivers_.emplace_back();
      EXPECT_TRUE(Driver::create(*engines_[rank], *transports_[rank], &drivers_.back()).ok());
    }
  }
  ~DriverTest() override {
    for (auto& driver : drivers_) driver.reset();
  }

  std::vector<Membership*> open_group(std::uint32_t counter) {
    wire::GroupSpec spec;
    spec.id = {0, counter};
    spec.members = {0, 1, 2};
    spec.layout = layout_from_nodes({0, 1, 2});
    PlanOptions options;
    options.chunk_bytes = 1024;
    EXPECT_TRUE(
        make_plan({{false, 0, {0}}, {false, 0, {1}}, {false, 0, {2}}, {true, 0, {3}}}, options, &spec.plan).ok());
    std::vector<Membership*> group;
    std::vector<std::uint32_t> handles;
    for (std::uint32_t rank = 0; rank < workers; ++rank) {
      const Driver::Lock lock = drivers_[rank]->lock();
      group.push_back(engines_[rank]->add_group());
      handles.push_back(group.back()->handle());
    }
    for (std::uint32_t rank = 0; rank < workers; ++rank) {
      const Driver::Lock lock = drivers_[rank]->lock();
      EXPECT_TRUE(group[rank]->open(spec, handles).ok());
    }
    return group;
  }

  // One all-reduce of int32 on one rank, as an API function would do it; the number of wrong elements.
  std::uint64_t allreduce(std::uint32_t rank, Membership& membership, std::uint64_t count, const Driver::Hook& hook) {
    std::vector<std::int32_t> send(count, static_cast<std::int32_t>(rank + 1));
    std::vector<std::int32_t> receive(count, -1);
    const allreduce_hetero::Arguments arguments{reinterpret_cast<const std::byte*>(send.data()),
                                                reinterpret_cast<std::byte*>(receive.data()), count, Datatype::int32,
                                                Op::sum};
    const std::unique_ptr<Operation> operation = make_allreduce_hetero(membership, arguments);
    Driver::Lock lock = drivers_[rank]->lock();
    membership.start(*operation);
    drivers_[rank]->wait(
        lock, [&] { return operation->done(); }, hook);
    membership.finish(*operation);
    EXPECT_TRUE(operation->status().ok()) << operation->status().to_string();
    std::uint64_t wrong = 0;
    for (std::int32_t value : receive) wrong += value != 1 + 2 + 3;
    return wrong;
  }

  LocalTransport::Hub hub_;
  std::vector<std::unique_ptr<LocalTransport>> transports_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::vector<std::unique_ptr<Driver>> drivers_;
};

TEST_F(DriverTest, SeveralThreadsOfEachRankWaitAtOnce) {
  constexpr std::uint32_t groups = 3;
  constexpr std::uint32_t calls = 60;
  std::vector<std::vector<Membership*>> open;
  for (std::uint32_t group = 0; group < groups; ++group) open.push_back(open_group(group));
  std::atomic<std::uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < workers; ++rank) {
    for (std::uint32_t group = 0; group < groups; ++group) {
      threads.emplace_back([&, rank, group] {
        for (std::uint32_t call = 0; call < calls; ++call)
          wrong += allreduce(rank, *open[group][rank], call % 3 == 0 ? 3 : 1000 + 977 * group * call, {});
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
}

// Rank 0 calls late, and between its calls its background thread serves the others.
TEST_F(DriverTest, TheBackgroundServesAGroupWhileItsOwnWorkerIsElsewhere) {
  const std::vector<Membership*> pair = open_group(1);
  const std::vector<Membership*> all = open_group(2);
  std::atomic<std::uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 1; rank < workers; ++rank) {
    threads.emplace_back([&, rank] {
      wrong += allreduce(rank, *all[rank], 50'000, {});
      wrong += allreduce(rank, *pair[rank], 50'000, {});
    });
  }
  wrong += allreduce(0, *all[0], 50'000, {});
  // The others need this rank's chunks of `all` and then wait for it in `pair`; nothing of that needs this thread.
  std::thread late([&] { wrong += allreduce(0, *pair[0], 50'000, {}); });
  for (std::thread& thread : threads) thread.join();
  late.join();
  EXPECT_EQ(wrong, 0u);
}

TEST_F(DriverTest, TheHookRunsWhileItsThreadWaitsAndWithoutTheLock) {
  const std::vector<Membership*> group = open_group(1);
  std::atomic<std::uint32_t> calls{0};
  std::atomic<std::uint64_t> wrong{0};
  const Driver::Hook hook{[&] {
                            const Driver::Lock lock = drivers_[0]->lock();
                            ++calls;
                          },
                          100'000};
  std::thread first([&] { wrong += allreduce(0, *group[0], 5000, hook); });
  // The others start only after the hook has run: without it this would never end.
  while (calls < 3) std::this_thread::yield();
  std::thread second([&] { wrong += allreduce(1, *group[1], 5000, {}); });
  wrong += allreduce(2, *group[2], 5000, {});
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace hps::test
