// SPDX-License-Identifier: BSD-3-Clause
// Calls that do not match, ranks that cannot take part, peers that are lost: an error that names who, buffers
// untouched, and the next call works where it can.
#include <gtest/gtest.h>

#include "engine/simulation.h"

namespace hps::test {
namespace {

SimulationOptions job(std::uint32_t workers, std::uint32_t cpu_only, Algorithm algorithm) {
  SimulationOptions options;
  options.workers = workers;
  options.cpu_only = cpu_only;
  options.plan.algorithm = algorithm;
  return options;
}

class BothAlgorithms : public testing::TestWithParam<Algorithm> {};

void expect_next_call_works(Simulation& simulation, std::size_t group) {
  Call call(simulation, group, 30'000, 9);
  call.start_all();
  simulation.network().run();
  ASSERT_TRUE(call.done());
  for (std::uint32_t member = 0; member < simulation.members(group); ++member) EXPECT_TRUE(call.status(member).ok());
  EXPECT_EQ(call.wrong(), 0u);
}

TEST_P(BothAlgorithms, CountsThatDifferFailTheCallOnAllAndNameTheRanks) {
  for (std::uint32_t other = 0; other < 4; ++other) {
    Simulation simulation(job(4, 2, GetParam()));
    const std::size_t group = simulation.open_group_of_all();
    {
      Call call(simulation, group, 100'001);
      for (std::uint32_t member = 0; member < 4; ++member) call.start(member, member == other ? 100'001 : 100'000);
      simulation.network().run();
      ASSERT_TRUE(call.done());
      for (std::uint32_t member = 0; member < 4; ++member) {
        EXPECT_EQ(call.status(member).code(), Code::mismatch);
        EXPECT_NE(call.status(member).text().find("100001"), std::string::npos) << call.status(member).text();
        EXPECT_NE(call.status(member).text().find("rank " + std::to_string(other)), std::string::npos)
            << call.status(member).text();
        EXPECT_EQ(call.touched(member), 0u);
      }
    }
    expect_next_call_works(simulation, group);
  }
}

TEST_P(BothAlgorithms, OperationsThatDifferFailTheCallOnAll) {
  Simulation simulation(job(3, 1, GetParam()));
  const std::size_t group = simulation.open_group_of_all();
  {
    Call call(simulation, group, 50'000);
    call.start(0, 50'000, Op::max);
    call.start(1, 50'000);
    call.start(2, 50'000);
    simulation.network().run();
    ASSERT_TRUE(call.done());
    for (std::uint32_t member = 0; member < 3; ++member) {
      EXPECT_EQ(call.status(member).code(), Code::mismatch);
      EXPECT_EQ(call.touched(member), 0u);
    }
  }
  expect_next_call_works(simulation, group);
}

TEST_P(BothAlgorithms, ARankThatCannotTakePartFailsTheCallOnAll) {
  Simulation simulation(job(4, 2, GetParam()));
  const std::size_t group = simulation.open_group_of_all();
  expect_next_call_works(simulation, group);
  for (bool first : {true, false}) {
    Call call(simulation, group, 200'000);
    Membership& failing = simulation.membership(group, 2);
    const auto refuse = [&] {
      failing.abort(failing.take_sequence(), {Code::invalid_count, "rank 2 could not take part", 2});
      simulation.network().wake(2);
    };
    if (first) refuse();
    simulation.network().run();
    for (std::uint32_t member : {0u, 1u, 3u}) call.start(member);
    simulation.network().run();
    if (!first) refuse();
    simulation.network().run();
    for (std::uint32_t member : {0u, 1u, 3u}) {
      ASSERT_TRUE(call.done(member));
      EXPECT_EQ(call.status(member).code(), Code::invalid_count);
      EXPECT_EQ(call.status(member).who(), 2);
    }
  }
  expect_next_call_works(simulation, group);
}

TEST_P(BothAlgorithms, ALostWorkerFailsTheCallOnTheOthersByName) {
  Simulation simulation(job(4, 2, GetParam()));
  const std::size_t group = simulation.open_group_of_all();
  expect_next_call_works(simulation, group);
  Call call(simulation, group, 400'000);
  for (std::uint32_t member : {0u, 2u, 3u}) call.start(member);
  simulation.network().run();
  simulation.network().kill(1);
  simulation.network().run();
  for (std::uint32_t member : {0u, 2u, 3u}) {
    ASSERT_TRUE(call.done(member));
    EXPECT_EQ(call.status(member).code(), Code::peer_failed);
    EXPECT_EQ(call.status(member).who(), 1);
    EXPECT_NE(call.status(member).text().find("rank 1"), std::string::npos) << call.status(member).text();
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, BothAlgorithms, testing::ValuesIn(all_algorithms));

TEST(LostOwnerTest, FailsTheCallByName) {
  Simulation simulation(job(4, 2, Algorithm::direct));
  const std::size_t group = simulation.open_group_of_all();
  expect_next_call_works(simulation, group);
  Call call(simulation, group, 400'000);
  for (std::uint32_t member : {0u, 1u, 2u}) call.start(member);
  simulation.network().run();
  simulation.network().kill(5);
  call.start(3);
  simulation.network().run();
  ASSERT_TRUE(call.done());
  for (std::uint32_t member = 0; member < 4; ++member) EXPECT_EQ(call.status(member).who(), 5);
}

}  // namespace
}  // namespace hps::test
