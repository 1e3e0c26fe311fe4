// SPDX-License-Identifier: BSD-3-Clause
// Calls that stand still: they end with an error that says why where they can never end well, and hold up nobody else
// until then.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/simulation.h"

namespace hps::test {
namespace {

constexpr TimeNs second = 1'000'000'000;
constexpr TimeNs timeout = 30 * second;

SimulationOptions job(std::uint32_t workers, std::uint32_t cpu_only) {
  SimulationOptions options;
  options.workers = workers;
  options.cpu_only = cpu_only;
  return options;
}

bool contains(const Status& status, const std::string& text) { return status.text().find(text) != std::string::npos; }

void expect_call_works(Simulation& simulation, std::size_t group, std::uint64_t count = 30'000) {
  Call call(simulation, group, count, 9);
  call.start_all();
  simulation.network().run();
  ASSERT_TRUE(call.done());
  for (std::uint32_t member = 0; member < simulation.members(group); ++member) EXPECT_TRUE(call.status(member).ok());
  EXPECT_EQ(call.wrong(), 0u);
}

// The longest vector that goes by recursive doubling.
std::uint64_t threshold(Simulation& simulation, std::size_t group) {
  const std::uint64_t elements = simulation.membership(group, 0).plan().small_bytes / sizeof(float);
  EXPECT_GT(elements, 0u);
  return elements;
}

TEST(StallTest, CountsOnBothSidesOfTheThresholdFailTheCallOnAllAndNameTheRanks) {
  for (std::uint32_t other = 0; other < 4; ++other) {
    for (bool is_shorter : {false, true}) {
      Simulation simulation(job(4, 2));
      const std::size_t group = simulation.open_group_of_all();
      const std::uint64_t small = threshold(simulation, group);
      {
        Call call(simulation, group, small + 1);
        for (std::uint32_t member = 0; member < 4; ++member)
          call.start(member, (member == other) == is_shorter ? small : small + 1);
        simulation.network().run();
        ASSERT_TRUE(call.done()) << "rank " << other;
        for (std::uint32_t member = 0; member < 4; ++member) {
          const Status& status = call.status(member);
          EXPECT_EQ(status.code(), Code::mismatch);
          EXPECT_TRUE(contains(status, "rank " + std::to_string(other))) << status.text();
          EXPECT_TRUE(contains(status, std::to_string(small) + " ")) << status.text();
          EXPECT_TRUE(contains(status, std::to_string(small + 1) + " ")) << status.text();
          EXPECT_EQ(std::count(status.text().begin(), status.text().end(), 'k'), 2) << status.text();  // two ranks
          EXPECT_EQ(call.touched(member), 0u);
        }
      }
      EXPECT_LT(simulation.network().now(), 5 * second);
      expect_call_works(simulation, group);
    }
  }
}

// Whoever has no elements is done at once, and may have gone on when the others find that they have one.
TEST(StallTest, NoElementsAgainstOneFailsTheCallOnThoseWhoHaveOne) {
  for (std::uint32_t empty = 0; empty < 3; ++empty) {
    Simulation simulation(job(3, 1));
    const std::size_t group = simulation.open_group_of_all();
    for (std::uint32_t calls = 0; calls < 3; ++calls) {  // with each of them as referee
      Call call(simulation, group, 1);
      for (std::uint32_t member = 0; member < 3; ++member) call.start(member, member == empty ? 0 : 1);
      EXPECT_TRUE(call.done(empty));
      EXPECT_TRUE(call.status(empty).ok());
      call.finish(empty);
      simulation.network().run();
      for (std::uint32_t member = 0; member < 3; ++member) {
        if (member == empty) continue;
        ASSERT_TRUE(call.done(member)) << "rank " << member << " of call " << calls;
        EXPECT_EQ(call.status(member).code(), Code::mismatch);
        EXPECT_TRUE(contains(call.status(member), "rank " + std::to_string(empty))) << call.status(member).text();
        EXPECT_EQ(call.touched(member), 0u);
      }
    }
    expect_call_works(simulation, group);
  }
}

class BothAlgorithmsStallTest : public testing::TestWithParam<Algorithm> {
 protected:
  static SimulationOptions patient_job(std::uint32_t workers, std::uint32_t cpu_only) {
    SimulationOptions options = job(workers, cpu_only);
    options.plan.algorithm = GetParam();
    options.timeout_ns = timeout;
    options.watch.referee.warn_ns = 0;
    return options;
  }
};

TEST_P(BothAlgorithmsStallTest, AMemberThatHasLeftFailsTheCallOnTheOthersByName) {
  for (std::uint32_t gone = 0; gone < 3; ++gone) {
    SimulationOptions options = job(3, 1);
    options.plan.algorithm = GetParam();
    Simulation simulation(options);
    const std::size_t group = simulation.open_group_of_all();
    expect_call_works(simulation, group);
    simulation.leave_group(group, gone);
    simulation.network().run();
    for (std::uint32_t number = 2; number < 5; ++number) {  // with each of them as referee
      Call call(simulation, group, 30'000, number);
      for (std::uint32_t member = 0; member < 3; ++member) {
        if (member != gone) call.start(member);
      }
      simulation.network().run();
      const std::string reason = "rank " + std::to_string(gone) +
                                 " has left the communicator and did not come to call " + std::to_string(number);
      for (std::uint32_t member = 0; member < 3; ++member) {
        if (member == gone) continue;
        ASSERT_TRUE(call.done(member)) << "rank " << member << ", without rank " << gone << " in call " << number;
        EXPECT_EQ(call.status(member).text(), reason);
        EXPECT_EQ(call.status(member).code(), Code::mismatch);
        EXPECT_EQ(call.touched(member), 0u);
      }
    }
  }
}

TEST_P(BothAlgorithmsStallTest, ARankThatComputesForLongerThanTheTimeOutIsWaitedFor) {
  for (std::uint32_t late = 0; late < 4; ++late) {
    Simulation simulation(patient_job(4, 2));
    const std::size_t group = simulation.open_group_of_all();
    Call call(simulation, group, 30'000);
    for (std::uint32_t member = 0; member < 4; ++member) {
      if (member != late) call.start(member);
    }
    simulation.network().run({}, 20 * timeout);
    for (std::uint32_t member = 0; member < 4; ++member) {
      EXPECT_FALSE(member != late && call.done(member));
    }
    call.start(late);
    simulation.network().run([&] { return call.done(); });
    ASSERT_TRUE(call.done());
    for (std::uint32_t member = 0; member < 4; ++member) EXPECT_TRUE(call.status(member).ok());
    EXPECT_EQ(call.wrong(), 0u);
  }
}

// Rank 4 and 5 are CPU-only: they are owners alone, and matter where owners do.
TEST_P(BothAlgorithmsStallTest, ARankThatStopsForGoodFailsTheCallOnTheOthersInTimeAndByName) {
  const std::uint32_t ranks = GetParam() == Algorithm::direct ? 6 : 4;
  for (std::uint32_t stopped = 0; stopped < ranks; ++stopped) {
    for (TimeNs after : {TimeNs{0}, TimeNs{120'000}, TimeNs{300'000}}) {
      SimulationOptions options = patient_job(4, 2);
      options.rate = 1e9;
      Simulation simulation(options);
      const std::size_t group = simulation.open_group_of_all();
      expect_call_works(simulation, group);
      const TimeNs begin = simulation.network().now();
      Call call(simulation, group, 300'000);
      if (after == 0) simulation.network().stop(static_cast<Rank>(stopped));
      for (std::uint32_t member = 0; member < 4; ++member) {
        if (after != 0 || member != stopped) call.start(member);
      }
      simulation.network().run({}, begin + after);
      simulation.network().stop(static_cast<Rank>(stopped));
      simulation.network().run({}, begin + timeout);
      for (std::uint32_t member = 0; member < 4; ++member) {
        const bool has_failed = member != stopped && call.done(member) && !call.status(member).ok();
        EXPECT_FALSE(has_failed) << "too early";
      }
      simulation.network().run({}, begin + timeout + 3 * second);
      std::uint32_t failed = 0;
      for (std::uint32_t member = 0; member < 4; ++member) {
        if (member == stopped) continue;
        ASSERT_TRUE(call.done(member)) << "rank " << member << ", without rank " << stopped << " after " << after;
        const Status& status = call.status(member);
        // Of recursive doubling some may have had all that they need of it.
        if (GetParam() == Algorithm::recursive_doubling && after != 0 && status.ok()) continue;
        ++failed;
        EXPECT_EQ(status.code(), Code::peer_failed);
        EXPECT_EQ(status.who(), static_cast<Rank>(stopped));
        const std::string lost = "lost rank " + std::to_string(stopped) + ": it has not answered rank ";
        EXPECT_TRUE(status.text().starts_with(lost)) << status.text();
        EXPECT_TRUE(status.text().ends_with(" for 30 s (HPS_TIMEOUT)")) << status.text();
      }
      EXPECT_GT(failed, 0u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, BothAlgorithmsStallTest, testing::ValuesIn(all_algorithms));

// Rank 0 owns chunks and has left: nobody but rank 1's leave, which does not come, makes it forget the group.
TEST(StallTest, AnOwnerThatHasLeftForgetsItsGroupThoughAMemberStopsForGood) {
  SimulationOptions options = job(2, 0);
  options.timeout_ns = timeout;
  Simulation simulation(options);
  const std::size_t group = simulation.open_group_of_all();
  expect_call_works(simulation, group);
  simulation.leave_group(group, 0);
  simulation.network().run({}, simulation.network().now() + second);
  EXPECT_EQ(simulation.engine(0).service().groups(), 1u);
  simulation.network().stop(1);
  simulation.network().run({}, simulation.network().now() + 2 * timeout);
  EXPECT_EQ(simulation.engine(0).service().groups(), 0u);
}

TEST(StallTest, OneRankWarnsOnceOfThoseWhoAreNotThere) {
  SimulationOptions options = job(5, 1);
  options.log = LogLevel::warn;
  options.watch.referee.warn_ns = 10 * second;
  Simulation simulation(options);
  const std::size_t group = simulation.open_group_of_all();
  expect_call_works(simulation, group);
  Call call(simulation, group, 30'000);
  const auto written = [&](TimeNs until) {
    testing::internal::CaptureStderr();
    simulation.network().run({}, until);
    return testing::internal::GetCapturedStderr();
  };
  const TimeNs begin = simulation.network().now();
  for (std::uint32_t member : {0u, 2u, 4u}) call.start(member);
  EXPECT_EQ(written(begin + 10 * second), "");
  // Call 2's referee is member 2.
  EXPECT_EQ(
      written(begin + 11 * second),
      "hps[2] warn: HPS_Allreduce_hetero of 30000 float32 (sum), call 2, has stood still for 10 s; not there yet: "
      "rank 1, rank 3\n");
  EXPECT_EQ(written(begin + 1000 * second), "");
  call.start(1);
  call.start(3);
  EXPECT_EQ(written(never_ns), "");
  ASSERT_TRUE(call.done());
  EXPECT_EQ(call.wrong(), 0u);
}

// What a group takes at least at any rank that sums for it.
std::uint64_t least_bytes(Simulation& simulation, std::size_t group) {
  const Plan& plan = simulation.membership(group, 0).plan();
  const std::uint64_t slot =
      (plan.chunk_bytes + ChunkBuffer::alignment - 1) / ChunkBuffer::alignment * ChunkBuffer::alignment;
  std::uint64_t least = 0;
  for (std::uint32_t owner = 0; owner < plan.owners.size(); ++owner) {
    const bool is_member = plan.owners[owner].rank < static_cast<Rank>(simulation.members(group));
    const std::uint64_t slots = simulation.members(group) + (is_member ? 0u : 1u);
    least = std::max<std::uint64_t>(least, std::max(1u, plan.most_in_span(owner, plan.rotation)) * slots * slot);
  }
  return least;
}

SimulationOptions short_of_memory(std::uint64_t serve_memory_bytes) {
  SimulationOptions options = job(4, 2);
  options.rate = 1e9;
  options.plan.algorithm = Algorithm::direct;
  options.plan.chunk_bytes = 16'384;
  options.serve_memory_bytes = serve_memory_bytes;
  return options;
}

std::uint64_t memory_for(std::uint32_t groups) {
  Simulation simulation(short_of_memory(64u << 20));
  return groups * least_bytes(simulation, simulation.open_group_of_all());
}

// Fifteen groups, each with three calls one after the other, besides a group that has memory for its call and one
// member that never comes. How long the fifteen take; `with_stalled`: whether there is the sixteenth group, and memory
// for it.
TimeNs time_of_fifteen(bool with_stalled, std::uint32_t seed) {
  const std::uint64_t count = 60'000;
  SimulationOptions options = short_of_memory(memory_for(with_stalled ? 16 : 15));
  options.network.seed = seed;
  options.network.jitter_ns = 20'000;
  Simulation simulation(options);
  const std::size_t stalled_group = simulation.open_group_of_all();
  Call stalled(simulation, stalled_group, count);
  if (with_stalled) {
    for (std::uint32_t member = 0; member < 3; ++member) stalled.start(member);
  }
  std::vector<std::size_t> groups;
  for (int i = 0; i < 15; ++i) groups.push_back(simulation.open_group_of_all());
  simulation.network().run({}, second / 2);
  const TimeNs begin = simulation.network().now();
  TimeNs end = begin;
  for (std::uint32_t number = 0; number < 3; ++number) {
    std::vector<std::unique_ptr<Call>> calls;
    for (std::size_t group : groups) {
      calls.push_back(std::make_unique<Call>(simulation, group, count, number));
      calls.back()->start_all();
    }
    const auto all_done = [&] {
      return std::all_of(calls.begin(), calls.end(), [](auto& call) { return call->done(); });
    };
    end = simulation.network().run(all_done, begin + 1000 * second);
    EXPECT_TRUE(all_done());
    for (const auto& call : calls) EXPECT_EQ(call->wrong(), 0u);
  }
  if (!with_stalled) return end - begin;
  for (std::uint32_t member = 0; member < 3; ++member) EXPECT_FALSE(stalled.done(member));
  stalled.start(3);
  simulation.network().run();
  EXPECT_TRUE(stalled.done());
  EXPECT_EQ(stalled.wrong(), 0u);
  return end - begin;
}

// Where fifteen groups meet at a port, the smallest delay changes their order, and the time by a fifth: many seeds.
TEST(StallTest, AGroupThatStandsStillHoldsUpNoOthersThatHaveMemory) {
  TimeNs without = 0, with = 0;
  for (std::uint32_t seed = 1; seed <= 32; ++seed) {
    without += time_of_fifteen(false, seed);
    with += time_of_fifteen(true, seed);
  }
  EXPECT_LT(static_cast<double>(with), 1.05 * static_cast<double>(without)) << with << " ns, and without " << without;
}

// Nonblocking calls that ranks start in opposite orders, and at other times: both must get the memory at all owners.
TEST(StallTest, TwoGroupsWithMemoryForOneBothCompleteInWhateverOrderTheirCallsStart) {
  const std::uint64_t memory = memory_for(1);
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    SimulationOptions options = short_of_memory(memory);
    options.network.seed = seed + 1;
    options.network.jitter_ns = seed % 2 == 0 ? 0 : 200'000;
    Simulation simulation(options);
    const std::size_t groups[] = {simulation.open_group_of_all(), simulation.open_group_of_all()};
    for (std::uint32_t number = 0; number < 3; ++number) {
      Call one(simulation, groups[0], 200'000, number);
      Call two(simulation, groups[1], 150'000, number + 10);
      for (std::uint32_t turn = 0; turn < 2; ++turn) {
        for (std::uint32_t member = 0; member < 4; ++member) {
          ((member < 2) == (turn == 0) ? one : two).start(member);
          if (seed != 0)
            simulation.network().run({}, simulation.network().now() + static_cast<TimeNs>(random() % 1'000'000));
        }
      }
      simulation.network().run();
      ASSERT_TRUE(one.done() && two.done())
          << "seed " << seed << ", call " << number << ": " << one.done() << ", " << two.done();
      for (std::uint32_t member = 0; member < 4; ++member)
        EXPECT_TRUE(one.status(member).ok() && two.status(member).ok());
      EXPECT_EQ(one.wrong() + two.wrong(), 0u);
    }
  }
}

}  // namespace
}  // namespace hps::test
