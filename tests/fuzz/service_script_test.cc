// SPDX-License-Identifier: BSD-3-Clause
// Scripts that are known: honest ones give all their results, bad messages are counted and change none.
#include "fuzz/service_script.h"

#include <gtest/gtest.h>

#include "fuzz/script_outbox.h"
#include "fuzz/scripted_group.h"
#include "fuzz/seeds.h"

namespace hps::fuzz {
namespace {

constexpr std::uint8_t one_thread = 4;
constexpr std::uint8_t two_threads = 134;

ScriptReport run(const ScriptWriter& script) { return run_service_script(script.bytes()); }

// Results that go to other ranks when each chunk of the call is summed here.
std::uint64_t results_of(std::uint8_t shape, std::uint8_t call) {
  ScriptedGroup group(0, shape, 0);
  group.begin_call(call);
  std::uint64_t chunks = 0;
  for (std::uint64_t chunk = 0; chunk < group.chunking.chunks; ++chunk) chunks += group.owns(chunk) ? 1 : 0;
  return chunks * (group.members.size() - (group.local ? 1 : 0));
}

TEST(ServiceScriptTest, HonestCallsGiveAllResults) {
  std::uint64_t all = 0;
  for (std::uint8_t shape = 0; shape < group_shapes; ++shape) {
    for (std::uint8_t call = 0; call < signatures; ++call) {
      for (std::uint8_t threads : {one_thread, two_threads}) {
        ScriptWriter script(threads, shape);
        script.add(Event::attach, {0}).add(Event::join_all, {0}).add(Event::next_call, {0, call});
        for (int i = 0; i < 40; ++i) script.add(Event::whole_call, {0}).add(Event::sum_ready);
        const ScriptReport report = run(script);
        EXPECT_EQ(report.wrong, "") << "shape " << int{shape} << ", call " << int{call};
        EXPECT_EQ(report.results, results_of(shape, call)) << "shape " << int{shape} << ", call " << int{call};
        EXPECT_EQ(report.rejected, 0u);
        all += report.results;
      }
    }
  }
  EXPECT_GT(all, 100u);
}

TEST(ServiceScriptTest, BadPushesAreCountedAndChangeNothing) {
  for (BadPush how : {BadPush::handle, BadPush::plan, BadPush::length, BadPush::chunk, BadPush::duplicate}) {
    ScriptWriter script(one_thread);
    script.add(Event::join_all, {0}).add(Event::next_call, {0, 1}).add(Event::push, {0, 0});
    script.bad_push(0, how, 0x7001).add(Event::whole_call, {0});
    const ScriptReport report = run(script);
    EXPECT_EQ(report.wrong, "");
    EXPECT_EQ(report.rejected, 1u) << static_cast<int>(how);
    EXPECT_EQ(report.results, results_of(0, 1));
  }
}

TEST(ServiceScriptTest, BadJoinsBesideAGroupChangeNothing) {
  for (std::uint32_t how = 0; how < bad_joins; ++how) {
    if (static_cast<BadJoin>(how) == BadJoin::again) continue;  // it is not bad where the member has not joined
    ScriptWriter script(one_thread);
    script.add(Event::join_all, {0}).bad_join(1, static_cast<BadJoin>(how), 5001).add(Event::whole_call, {0});
    const ScriptReport report = run(script);
    EXPECT_EQ(report.wrong, "") << how;
    EXPECT_EQ(report.results, results_of(0, 0)) << how;
  }
}

TEST(ServiceScriptTest, ResultsUnderWayKeepTheirMemoryUntilTheyAreSent) {
  ScriptWriter script(one_thread);
  script.add(Event::join_all, {0}).add(Event::send_mode, {1}).add(Event::whole_call, {0});
  script.add(Event::leave, {0, 0}).add(Event::leave, {0, 1}).add(Event::collect).add(Event::complete, {0, 1});
  const ScriptReport report = run(script);
  EXPECT_EQ(report.wrong, "");
  EXPECT_GT(report.results, 0u);
}

// Four groups of one shape; memory is for two.
TEST(ServiceScriptTest, HonestCallsEndWhereGroupsTakeEachOthersMemory) {
  for (std::uint8_t threads : {std::uint8_t{1}, std::uint8_t{131}}) {
    ScriptWriter script(threads, 3);
    for (std::uint8_t place = 4; place-- > 0;)
      script.add(Event::join_all, {place}).add(Event::push, {place, 0}).add(Event::push, {place, 1});
    const ScriptReport report = run(script);
    EXPECT_EQ(report.wrong, "");
    EXPECT_GT(report.revoked, 0u);
    EXPECT_EQ(report.results, 0u) << "they end where the script ends";
  }
}

TEST(ServiceScriptTest, PushesBeyondCreditsAreRejected) {
  ScriptWriter script(one_thread, 2);
  script.add(Event::attach, {0}).add(Event::join_all, {0}).add(Event::next_call, {0, 7});
  script.bad_push(0, BadPush::beyond_credits, 0);
  EXPECT_EQ(run(script).rejected, 0u) << "its credits are not used up";
  ScriptWriter waiting(one_thread, 0);
  waiting.add(Event::join_all, {0}).add(Event::next_call, {0, 7});
  for (int i = 0; i < 40; ++i) waiting.add(Event::push, {0, 0});
  waiting.bad_push(0, BadPush::beyond_credits, 0);
  const ScriptReport report = run(waiting);
  EXPECT_EQ(report.wrong, "");
  EXPECT_EQ(report.rejected, 1u);
}

TEST(ServiceScriptTest, NothingIsWrongInTheSeeds) {
  for (const Seed& seed : service_seeds()) EXPECT_EQ(run_service_script(seed.bytes).wrong, "") << seed.name;
}

}  // namespace
}  // namespace hps::fuzz
