// SPDX-License-Identifier: BSD-3-Clause
// Whole calls over the fake network: every shape of job gives the right result, and everything is given back at the
// end.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include "engine/simulation.h"

namespace hps::test {
namespace {

SimulationOptions job(std::uint32_t workers, std::uint32_t cpu_only) {
  SimulationOptions options;
  options.workers = workers;
  options.cpu_only = cpu_only;
  return options;
}

void expect_right(Simulation& simulation, std::size_t group, std::uint64_t count, std::uint32_t number = 0) {
  Call call(simulation, group, count, number);
  call.start_all();
  simulation.network().run();
  ASSERT_TRUE(call.done()) << simulation.workers() << " workers, " << count
                           << " elements: nothing is under way, and not done";
  EXPECT_EQ(call.wrong(), 0u);
}

class EveryShape : public testing::TestWithParam<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> {};

TEST_P(EveryShape, GivesTheSumWithBothAlgorithms) {
  const auto [workers, cpu_only, ranks_a_node] = GetParam();
  for (Algorithm algorithm : all_algorithms) {
    SimulationOptions options = job(workers, cpu_only);
    options.ranks_a_node = ranks_a_node;
    options.plan.algorithm = algorithm;
    options.plan.chunk_bytes = 1024;
    Simulation simulation(options);
    const std::size_t group = simulation.open_group_of_all();
    std::uint32_t number = 0;
    for (std::uint64_t count : {0u, 1u, 7u, 1009u, 40'000u}) expect_right(simulation, group, count, number++);
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, EveryShape,
                         testing::Combine(testing::Values(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u),
                                          testing::Values(0u, 1u, 4u, 11u), testing::Values(1u, 2u, 3u)));

TEST(EngineTest, MessagesThatOvertakeEachOtherChangeNothing) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulationOptions options = job(5, 3);
    options.network.seed = seed;
    options.network.jitter_ns = 2'000'000;
    options.plan.chunk_bytes = 512;
    Simulation simulation(options);
    const std::size_t group = simulation.open_group_of_all();
    for (std::uint32_t number = 0; number < 5; ++number)
      expect_right(simulation, group, number % 2 ? 3 : 20'000, number);
  }
}

// Its instructions are what a small call costs (bench/RESULTS.md).
TEST(EngineTest, AThousandSmallCallsInARow) {
  Simulation simulation(job(4, 2));
  const std::size_t group = simulation.open_group_of_all();
  for (std::uint32_t number = 0; number < 1000; ++number) expect_right(simulation, group, 2, number);
}

TEST(EngineTest, AWorkerThatComesLateHoldsUpTheOthersAndNothingElse) {
  Simulation simulation(job(4, 2));
  const std::size_t group = simulation.open_group_of_all();
  Call call(simulation, group, 500'000);
  for (std::uint32_t member : {0u, 1u, 3u}) call.start(member);
  simulation.network().run();
  for (std::uint32_t member : {0u, 1u, 3u}) EXPECT_FALSE(call.done(member));
  call.start(2);
  simulation.network().run();
  ASSERT_TRUE(call.done());
  EXPECT_EQ(call.wrong(), 0u);
}

TEST(EngineTest, GroupsSharePoolAndTakeNothingFromEachOther) {
  Simulation simulation(job(6, 2));
  const std::size_t all = simulation.open_group_of_all();
  const std::size_t even = simulation.open_group({0, 2, 4});
  const std::size_t odd = simulation.open_group({5, 3, 1});
  Call one(simulation, all, 100'000, 1);
  Call two(simulation, even, 70'001, 2);
  Call three(simulation, odd, 90'001, 3);
  two.start(0);
  three.start_all();
  one.start_all();
  two.start(1);
  two.start(2);
  simulation.network().run();
  ASSERT_TRUE(one.done() && two.done() && three.done());
  EXPECT_EQ(one.wrong() + two.wrong() + three.wrong(), 0u);
}

TEST(EngineTest, EverythingIsGivenBackWhenGroupsClose) {
  Simulation simulation(job(4, 3));
  for (int round = 0; round < 100; ++round) {
    const std::size_t group = simulation.open_group_of_all();
    expect_right(simulation, group, 20'000);
    simulation.close_group(group);
    simulation.network().run();
  }
  for (std::uint32_t rank = 0; rank < simulation.ranks(); ++rank) {
    EXPECT_EQ(simulation.engine(rank).service().groups(), 0u) << "rank " << rank;
    EXPECT_EQ(simulation.engine(rank).service().reserved_bytes(), 0u) << "rank " << rank;
    EXPECT_FALSE(simulation.engine(rank).retiring()) << "rank " << rank;
    EXPECT_FALSE(simulation.engine(rank).busy()) << "rank " << rank;
    EXPECT_EQ(simulation.engine(rank).service().counters().rejected(), 0u) << "rank " << rank;
  }
}

TEST(EngineTest, MemoryStaysWithinItsBudgetHoweverManyGroups) {
  SimulationOptions options = job(4, 1);
  options.serve_memory_bytes = 4u << 20;
  Simulation simulation(options);
  std::vector<std::unique_ptr<Call>> calls;
  for (std::uint32_t number = 0; number < 40; ++number) {
    calls.push_back(std::make_unique<Call>(simulation, simulation.open_group_of_all(), 50'000, number));
    calls.back()->start_all();
  }
  // Groups beyond the budget wait until others have closed.
  for (std::size_t closed = 0; closed < calls.size();) {
    simulation.network().run();
    for (std::uint32_t rank = 0; rank < simulation.ranks(); ++rank)
      EXPECT_LE(simulation.engine(rank).service().reserved_bytes(), options.serve_memory_bytes);
    std::size_t now = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (!calls[i] || !calls[i]->done()) continue;
      EXPECT_EQ(calls[i]->wrong(), 0u);
      calls[i].reset();
      simulation.close_group(i);
      ++now;
    }
    ASSERT_GT(now, 0u) << "nothing is under way, and " << calls.size() - closed << " calls are not done";
    closed += now;
  }
  simulation.network().run();  // The last groups' farewells arrive.
}

TEST(EngineTest, AGroupThatCanNeverFitIsRefusedAndSaysHow) {
  SimulationOptions options = job(3, 1);
  options.serve_memory_bytes = 1000;
  Simulation simulation(options);
  Call call(simulation, simulation.open_group_of_all(), 100'000);
  call.start_all();
  simulation.network().run();
  ASSERT_TRUE(call.done());
  for (std::uint32_t member = 0; member < 3; ++member) {
    EXPECT_EQ(call.status(member).code(), Code::peer_failed);
    EXPECT_NE(call.status(member).text().find("HPS_SERVE_MEMORY"), std::string::npos) << call.status(member).text();
    EXPECT_EQ(call.touched(member), 0u);
  }
}

}  // namespace
}  // namespace hps::test
