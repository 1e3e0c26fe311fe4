// SPDX-License-Identifier: BSD-3-Clause
// Ranks that end one by one: a goodbye is heard by all that the rank has sent to, and what is gone in the meantime
// holds nobody up.
#include <gtest/gtest.h>

#include "engine/engine.h"
#include "engine/simulation.h"

namespace hps::test {
namespace {

SimulationOptions three_workers() {
  SimulationOptions options;
  options.workers = 3;
  options.plan.chunk_bytes = 1024;
  options.plan.algorithm = Algorithm::direct;
  return options;
}

class GoodbyeTest : public testing::Test {
 protected:
  // All ranks have sent to each other.
  void SetUp() override {
    group_ = simulation_.open_group_of_all();
    Call call(simulation_, group_, 20'000);
    call.start_all();
    simulation_.network().run();
    ASSERT_TRUE(call.done());
  }
  void say_goodbye(std::uint32_t rank) {
    simulation_.engine(rank).say_goodbye();
    simulation_.network().wake(static_cast<Rank>(rank));
  }

  Simulation simulation_{three_workers()};
  std::size_t group_ = 0;
};

TEST_F(GoodbyeTest, IsHeardByAll) {
  say_goodbye(2);
  EXPECT_FALSE(simulation_.engine(2).said_goodbye());
  simulation_.network().run();
  EXPECT_TRUE(simulation_.engine(2).said_goodbye());
}

TEST_F(GoodbyeTest, MayBeSaidByAllAtOnce) {
  for (std::uint32_t rank = 0; rank < 3; ++rank) say_goodbye(rank);
  simulation_.network().run();
  for (std::uint32_t rank = 0; rank < 3; ++rank) EXPECT_TRUE(simulation_.engine(rank).said_goodbye());
}

TEST_F(GoodbyeTest, NeedsNotBeHeardByTheDead) {
  simulation_.network().stop(0);
  say_goodbye(2);
  simulation_.network().run();
  EXPECT_FALSE(simulation_.engine(2).said_goodbye());
  simulation_.network().kill(0);
  simulation_.network().run();
  EXPECT_TRUE(simulation_.engine(2).said_goodbye());
}

TEST_F(GoodbyeTest, IsNotSaidToThoseWhoHaveSaidIt) {
  say_goodbye(2);
  simulation_.network().run();
  const std::uint64_t before = simulation_.network().messages();
  say_goodbye(0);
  simulation_.network().run();
  EXPECT_EQ(simulation_.network().messages() - before, 2u);  // to rank 1 and back
}

// What is left of a group that the rank was in cannot be used any more.
TEST_F(GoodbyeTest, ExplainsALostConnection) {
  say_goodbye(2);
  simulation_.network().run();
  simulation_.network().kill(2);
  simulation_.network().run();
  EXPECT_TRUE(simulation_.membership(group_, 0).failure().ok()) << "it may have needed nothing more of that rank";
  Call call(simulation_, group_, 1000);
  call.start(0);
  simulation_.network().run();
  ASSERT_TRUE(call.done(0));
  EXPECT_EQ(call.status(0).text(), "rank 2 has ended");
}

}  // namespace
}  // namespace hps::test
