// SPDX-License-Identifier: BSD-3-Clause
// Many nodes, and what the plan promises, in virtual time: no deadlock where the rotation group, the window and credits
// are all smaller than the number of nodes, and the share of the bound that the emulated cluster gives too.
#include <gtest/gtest.h>

#include "engine/simulation.h"

namespace hps::test {
namespace {

SimulationOptions job(std::uint32_t workers, std::uint32_t cpu_only) {
  SimulationOptions options;
  options.workers = workers;
  options.cpu_only = cpu_only;
  options.plan.algorithm = Algorithm::direct;
  return options;
}

TEST(ScaleTest, SixtyFourAndSixtyFourNodesDoNotLockUp) {
  for (std::uint32_t window : {0u, 4u, 12u, 48u}) {
    SimulationOptions options = job(64, 64);
    options.plan.window = window;
    options.plan.chunk_bytes = 256;
    options.network.jitter_ns = 300'000;
    Simulation simulation(options);
    Call call(simulation, simulation.open_group_of_all(), 64 * 1500);
    call.start_all();
    simulation.network().run();
    ASSERT_TRUE(call.done()) << "window " << window;
    EXPECT_EQ(call.wrong(), 0u) << "window " << window;
  }
}

TEST(ScaleTest, TheLeastMemoryDoesNotLockUp) {
  SimulationOptions options = job(16, 8);
  options.plan.chunk_bytes = 1024;
  options.plan.window = 8;
  // Enough for the least credits of the owner that has the most chunks in a rotation group, and no more.
  options.serve_memory_bytes = 17 * 1024 * 2;
  Simulation simulation(options);
  Call call(simulation, simulation.open_group_of_all(), 256 * 500);
  call.start_all();
  simulation.network().run();
  ASSERT_TRUE(call.done());
  for (std::uint32_t member = 0; member < 16; ++member)
    ASSERT_TRUE(call.status(member).ok()) << call.status(member).text();
  EXPECT_EQ(call.wrong(), 0u);
}

TEST(ScaleTest, AThousandWorkersAndFiveHundredCpuOnlyNodesDoNotLockUp) {
  SimulationOptions options = job(1024, 512);
  options.plan.chunk_bytes = 64;
  Simulation simulation(options);
  Call call(simulation, simulation.open_group_of_all(), 16 * 100);
  call.start_all();
  simulation.network().run();
  ASSERT_TRUE(call.done());
  EXPECT_EQ(call.wrong(), 0u);
}

// At 100 Mbit/s, 8 MB. The network of the simulation forwards whole messages, so filling and draining the pipeline
// costs more than on a real one; chunks of 8 KB and a window of 24 suit it.
TEST(ScaleTest, TakesTheTimeThatThePlanPredicts) {
  for (std::uint32_t cpu_only : {0u, 1u, 2u, 4u, 7u, 8u}) {
    SimulationOptions options = job(8, cpu_only);
    options.rate = 12.5e6;
    options.plan.chunk_bytes = 8192;
    options.plan.window = 24;
    Simulation simulation(options);
    const std::size_t group = simulation.open_group_of_all();
    const std::uint64_t count = 2u << 20;
    {
      Call warm_up(simulation, group, 50'000);
      warm_up.start_all();
      simulation.network().run();
    }
    const TimeNs begin = simulation.network().now();
    Call call(simulation, group, count);
    call.start_all();
    simulation.network().run([&] { return call.done(); });
    const double seconds = static_cast<double>(simulation.network().now() - begin) * 1e-9;
    const double bound = simulation.membership(group, 0).plan().bound_seconds(static_cast<double>(count) * 4);
    RecordProperty("percent_of_bound_k" + std::to_string(cpu_only), std::to_string(100 * bound / seconds));
    EXPECT_GT(bound / seconds, 0.92) << "k = " << cpu_only;
    EXPECT_LE(bound / seconds, 1.0) << "k = " << cpu_only;
  }
}

}  // namespace
}  // namespace hps::test
