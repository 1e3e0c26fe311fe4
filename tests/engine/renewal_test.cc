// SPDX-License-Identifier: BSD-3-Clause
// Plans that are made anew: links of which nobody has told the rate are measured, and shares, chunks and windows follow
// from what was found, on all ranks alike.
#include <gtest/gtest.h>

#include "engine/simulation.h"
#include "plan/shares.h"

namespace hps::test {
namespace {

constexpr double mbit = 1e6 / 8;

class Job {
 public:
  explicit Job(const SimulationOptions& options)
      : options_(options), simulation_(options), group_(simulation_.open_group_of_all()) {}

  Simulation& simulation() { return simulation_; }
  const Plan& plan(std::uint32_t member) { return simulation_.membership(group_, member).plan(); }

  // The time of one call, checked.
  double seconds_of_call(std::uint64_t count) {
    const TimeNs begin = simulation_.network().now();
    Call call(simulation_, group_, count, ++calls_);
    call.start_all();
    simulation_.network().run([&] { return call.done(); });
    EXPECT_TRUE(call.done());
    for (std::uint32_t m = 0; m < simulation_.members(group_); ++m)
      EXPECT_TRUE(call.status(m).ok()) << call.status(m).text();
    EXPECT_EQ(call.wrong(), 0u);
    return static_cast<double>(simulation_.network().now() - begin) * 1e-9;
  }
  void expect_plans_agree() {
    for (std::uint32_t m = 1; m < simulation_.members(group_); ++m) EXPECT_EQ(plan(m), plan(0)) << "member " << m;
  }

 private:
  SimulationOptions options_;
  Simulation simulation_;
  std::size_t group_;
  std::uint32_t calls_ = 0;
};

SimulationOptions job(std::uint32_t workers, std::uint32_t cpu_only, double rate) {
  SimulationOptions options;
  options.workers = workers;
  options.cpu_only = cpu_only;
  options.rate = rate;
  options.rates.assign(workers + cpu_only, rate);
  options.rates_told = false;
  options.network.delay_ns = 30'000;
  return options;
}

double bound(const SimulationOptions& options, double bytes) {
  const auto first = options.rates.begin();
  double seconds = 0;
  EXPECT_TRUE(
      bound_seconds(bytes, {first, first + options.workers}, {first + options.workers, options.rates.end()}, &seconds)
          .ok());
  return seconds;
}

TEST(RenewalTest, EqualLinksAreFoundToBeEqual) {
  for (const double rate : {20 * mbit, 100 * mbit, 1000 * mbit}) {
    Job job(test::job(4, 2, rate));
    const auto count = static_cast<std::uint64_t>(rate / 20);  // a quarter of a second of traffic
    for (int call = 0; call < 3; ++call) job.seconds_of_call(count);
    EXPECT_EQ(job.plan(0).number, 2u);
    job.expect_plans_agree();
    for (const PlanNodeShare& node : job.plan(0).nodes) {
      EXPECT_NEAR(node.rate / rate, 1, 0.03) << rate;
      EXPECT_EQ(node.rate, job.plan(0).nodes.front().rate);
    }
  }
}

TEST(RenewalTest, ASlowCpuOnlyNodeAndASlowWorkerAreFound) {
  for (const std::size_t slow : {0u, 3u, 4u, 5u}) {
    SimulationOptions options = job(4, 2, 100 * mbit);
    options.rates[slow] = 25 * mbit;
    Job job(options);
    const std::uint64_t count = 4u << 20;
    double seconds = 0;
    for (int call = 0; call < 6; ++call) seconds = job.seconds_of_call(count);
    job.expect_plans_agree();
    EXPECT_NEAR(job.plan(0).nodes[slow].rate, 25 * mbit, 1 * mbit) << slow;
    EXPECT_GT(bound(options, count * 4.0) / seconds, 0.9) << slow;
  }
}

TEST(RenewalTest, ALinkThatBecomesSlowIsFoundWithinTwentyCallsAndOneThatRecoversToo) {
  SimulationOptions options = job(4, 2, 100 * mbit);
  Job job(options);
  const std::uint64_t count = 2u << 20;
  for (int call = 0; call < 3; ++call) job.seconds_of_call(count);
  job.simulation().network().set_rate(4, 25 * mbit);
  options.rates[4] = 25 * mbit;
  double seconds = 0;
  for (int call = 0; call < 20; ++call) seconds = job.seconds_of_call(count);
  EXPECT_GT(bound(options, count * 4.0) / seconds, 0.88);
  job.expect_plans_agree();
  job.simulation().network().set_rate(4, 100 * mbit);
  options.rates[4] = 100 * mbit;
  for (int call = 0; call < 60; ++call) seconds = job.seconds_of_call(count);
  EXPECT_GT(bound(options, count * 4.0) / seconds, 0.88);
  job.expect_plans_agree();
}

TEST(RenewalTest, ACpuOnlyRankThatDoesNotAnswerHoldsUpNoPlanForEver) {
  SimulationOptions options = job(3, 2, 100 * mbit);
  Job job(options);
  const std::uint64_t count = 1u << 20;
  for (int call = 0; call < 2; ++call) job.seconds_of_call(count);  // the second asks for a plan
  job.simulation().network().stop(4);
  Call call(job.simulation(), 0, count);
  call.start_all();
  const TimeNs begin = job.simulation().network().now();
  job.simulation().network().run({}, begin + 10'000'000'000);
  job.simulation().network().resume(4);
  job.simulation().network().run([&] { return call.done(); });
  ASSERT_TRUE(call.done());
  for (std::uint32_t m = 0; m < 3; ++m) EXPECT_TRUE(call.status(m).ok()) << call.status(m).text();
  EXPECT_EQ(call.wrong(), 0u);
  EXPECT_EQ(job.plan(0).number, 1u);
  job.expect_plans_agree();
}

TEST(RenewalTest, CallsThatDoNotMatchFailWhileAPlanIsAwaitedAndTheNextWorks) {
  Job job(test::job(3, 2, 20 * mbit));
  const std::uint64_t count = 1u << 18;
  for (int call = 0; call < 2; ++call) job.seconds_of_call(count);
  {
    Call call(job.simulation(), 0, count);
    call.start(0, count);
    call.start(1, count - 1);
    call.start(2, count);
    job.simulation().network().run([&] { return call.done(); });
    ASSERT_TRUE(call.done());
    for (std::uint32_t m = 0; m < 3; ++m) {
      EXPECT_EQ(call.status(m).code(), Code::mismatch) << call.status(m).text();
      EXPECT_EQ(call.touched(m), 0u);
    }
  }
  job.seconds_of_call(count);
  EXPECT_EQ(job.plan(0).number, 2u);
  job.expect_plans_agree();
}

// They have met to measure their links, and each ends when the workers are done.
TEST(RenewalTest, CpuOnlyRanksDoNotMissEachOther) {
  Job job(test::job(3, 2, 100 * mbit));
  for (int call = 0; call < 3; ++call) job.seconds_of_call(1u << 20);
  ASSERT_EQ(job.plan(0).number, 2u);
  job.simulation().network().break_connection(3, 4);
  job.seconds_of_call(1u << 20);
  for (std::uint32_t rank : {3u, 4u}) EXPECT_TRUE(job.simulation().engine(rank).shutdown().loss().ok());
}

// One that has only sent trains to the other says goodbye to it, and may find it gone already.
TEST(RenewalTest, AGoodbyeAfterATrainNeedsNobodyToHearIt) {
  Job job(test::job(3, 2, 100 * mbit));
  for (int call = 0; call < 3; ++call) job.seconds_of_call(1u << 20);
  ASSERT_EQ(job.plan(0).number, 2u);
  Engine& engine = job.simulation().engine(3);
  engine.say_goodbye();
  job.simulation().network().break_connection(3, 4);
  job.simulation().network().wake(3);
  job.simulation().network().run([&] { return engine.said_goodbye(); });
  EXPECT_TRUE(engine.said_goodbye());
  EXPECT_TRUE(engine.shutdown().loss().ok()) << engine.shutdown().loss().text();
}

// Nothing is to be awaited, but a result says so.
TEST(RenewalTest, AMemberThatWaitsForNothingIsTold) {
  SimulationOptions options = job(3, 1, 100 * mbit);
  options.rates_told = true;
  options.plan.algorithm = Algorithm::direct;
  Job job(options);
  job.seconds_of_call(1000);
  Membership& misled = job.simulation().membership(0, 1);
  {
    Call call(job.simulation(), 0, 1u << 18);
    call.start_all();
    misled.hear_of_renewal(2);
    job.simulation().network().run([&] { return call.done(); });
  }
  ASSERT_TRUE(misled.awaits_plan());
  EXPECT_GT(job.seconds_of_call(1000), 0.9);  // it asks after a second
  EXPECT_LT(job.seconds_of_call(1000), 0.1);
}

TEST(RenewalTest, APlanThatTakesMoreMemoryThanAnOwnerHasIsNotMade) {
  SimulationOptions options = job(4, 2, 1000 * mbit);
  // One contribution of each member in chunks of 16 KB, for owners with two chunks in a rotation group; 60 KB do not
  // fit.
  options.serve_memory_bytes = 5 * 3 * 16384;
  Job job(options);
  for (int call = 0; call < 4; ++call) job.seconds_of_call(8u << 20);
  job.expect_plans_agree();
  EXPECT_EQ(job.plan(0).number, 2u);
  EXPECT_EQ(job.plan(0).chunk_bytes, 16384u);
}

}  // namespace
}  // namespace hps::test
