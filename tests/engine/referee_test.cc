// SPDX-License-Identifier: BSD-3-Clause
#include "engine/referee.h"

#include <gtest/gtest.h>

namespace hps::test {
namespace {

using Action = Referee::Action;
using Members = std::vector<std::uint32_t>;

constexpr TimeNs ms = 1'000'000;
constexpr TimeNs second = 1000 * ms;
constexpr TimeNs begin = 5000 * second;

wire::Signature of_elements(std::uint64_t count) {
  return {wire::Collective::allreduce_hetero, Datatype::float32, Op::sum, count};
}

// At member 0, which is world rank 4; it is the referee of calls 3, 6, 9, ...
class RefereeTest : public testing::Test {
 protected:
  RefereeTest() : RefereeTest(Referee::Options{}) {}
  explicit RefereeTest(const Referee::Options& options) : referee_(options) { referee_.open({4, 7, 9}); }

  static std::vector<Action> of_kind(Action::Kind kind, const std::vector<Action>& actions) {
    std::vector<Action> found;
    for (const Action& action : actions) {
      if (action.kind == kind) found.push_back(action);
    }
    return found;
  }
  void expect_ok(std::uint32_t sequence, std::uint32_t member, std::uint64_t count) {
    EXPECT_TRUE(referee_.on_report(sequence, member, of_elements(count), begin).ok());
  }

  Referee referee_;
};

TEST_F(RefereeTest, IsTheMemberOfTheCallsNumberModuloTheGroup) {
  EXPECT_EQ(referee_.of(1), 1u);
  EXPECT_EQ(referee_.of(2), 2u);
  EXPECT_EQ(referee_.of(3), 0u);
  EXPECT_EQ(referee_.of(UINT32_MAX), UINT32_MAX % 3);
}

TEST_F(RefereeTest, ReportsThatDifferNameBothRanksAndCounts) {
  expect_ok(3, 1, 100);
  const Status differs = referee_.on_report(3, 2, of_elements(101), begin);
  EXPECT_EQ(differs.code(), Code::mismatch);
  EXPECT_EQ(differs.who(), 9);
  EXPECT_EQ(differs.text(), "rank 9: count 101 differs from 100 on rank 7 in HPS_Allreduce_hetero, call 3");
}

TEST_F(RefereeTest, AReportThatDiffersFromItsOwnCallIsAMismatchEvenWhenTheCallIsOver) {
  ASSERT_TRUE(referee_.begin(3, of_elements(0)).ok());
  EXPECT_EQ(referee_.on_report(3, 1, of_elements(1), begin).code(), Code::mismatch);
  referee_.end(3);
  const Status differs = referee_.on_report(3, 2, of_elements(1), begin);
  EXPECT_EQ(differs.text(), "rank 9: count 1 differs from 0 on rank 4 in HPS_Allreduce_hetero, call 3");
}

TEST_F(RefereeTest, ItsOwnCallIsComparedWithReportsThatCameBefore) {
  expect_ok(3, 2, 100);
  expect_ok(6, 2, 200);
  EXPECT_EQ(referee_.begin(3, of_elements(5)).text(),
            "rank 4: count 5 differs from 100 on rank 9 in HPS_Allreduce_hetero, call 3");
  EXPECT_TRUE(referee_.begin(6, of_elements(200)).ok());
}

TEST_F(RefereeTest, WhoeverHasNotComeChangesNothing) {
  EXPECT_TRUE(referee_.on_report(3, 1, wire::Signature(), begin).ok());
  EXPECT_TRUE(referee_.look(begin + 100 * second, never_ns).empty());
  EXPECT_EQ(referee_.next(), never_ns);
}

TEST_F(RefereeTest, InquiresOnceAfterThoseWhoHaveNotCome) {
  ASSERT_TRUE(referee_.begin(3, of_elements(100)).ok());
  expect_ok(3, 2, 100);
  EXPECT_TRUE(referee_.look(begin, never_ns).empty());
  EXPECT_EQ(referee_.next(), begin + second);
  EXPECT_TRUE(referee_.look(begin + second - 1, never_ns).empty());
  const auto actions = referee_.look(begin + second, never_ns);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].kind, Action::Kind::inquire);
  EXPECT_EQ(actions[0].sequence, 3u);
  EXPECT_EQ(actions[0].signature, of_elements(100));
  EXPECT_EQ(actions[0].missing, Members{1});
  EXPECT_TRUE(referee_.look(begin + 2 * second, never_ns).empty());
}

TEST_F(RefereeTest, WarnsOnceOfThoseWhoHaveStillNotCome) {
  expect_ok(3, 2, 100);
  static_cast<void>(referee_.look(begin + second, never_ns));
  expect_ok(3, 0, 100);
  EXPECT_EQ(referee_.next(), begin + 60 * second);
  const auto actions = referee_.look(begin + 60 * second, never_ns);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].kind, Action::Kind::warn);
  EXPECT_EQ(actions[0].missing, Members{1});
  EXPECT_TRUE(referee_.look(begin + 600 * second, never_ns).empty());
  EXPECT_EQ(referee_.next(), never_ns);
}

class RefereeThatNeverWarnsTest : public RefereeTest {
 protected:
  RefereeThatNeverWarnsTest() : RefereeTest(Referee::Options{second, 0}) {}
};

TEST_F(RefereeThatNeverWarnsTest, StillInquires) {
  expect_ok(3, 2, 100);
  EXPECT_EQ(of_kind(Action::Kind::inquire, referee_.look(begin + 600 * second, never_ns)).size(), 1u);
  EXPECT_TRUE(referee_.look(begin + 1200 * second, never_ns).empty());
}

TEST_F(RefereeTest, LooksForLostRanksEveryIntervalOnceThereIsReasonTo) {
  expect_ok(3, 2, 100);
  const TimeNs interval = 400 * ms;
  EXPECT_TRUE(referee_.look(begin, interval).empty());
  for (int round = 1; round <= 2; ++round) {
    EXPECT_EQ(referee_.next(), begin + round * interval);
    EXPECT_EQ(of_kind(Action::Kind::look_for_lost, referee_.look(begin + round * interval, interval)).size(), 1u);
    EXPECT_TRUE(of_kind(Action::Kind::look_for_lost, referee_.look(begin + round * interval, interval)).empty());
  }
}

TEST_F(RefereeTest, FollowsNoCallThatIsPast) {
  expect_ok(3, 1, 100);
  ASSERT_TRUE(referee_.begin(6, of_elements(100)).ok());
  referee_.end(6);
  expect_ok(3, 2, 100);
  expect_ok(6, 2, 100);
  EXPECT_TRUE(referee_.look(begin + 100 * second, second).empty());
}

TEST_F(RefereeTest, KnowsItsOwnLatestCallsAndNoOthers) {
  for (std::uint32_t call = 1; call <= 100; ++call) ASSERT_TRUE(referee_.begin(call, of_elements(call)).ok());
  EXPECT_EQ(referee_.signature_of(100), of_elements(100));
  EXPECT_EQ(referee_.signature_of(37), of_elements(37));
  EXPECT_EQ(referee_.signature_of(36).collective, wire::Collective::none);
  EXPECT_EQ(referee_.signature_of(101).collective, wire::Collective::none);
  EXPECT_EQ(referee_.signature_of(0).collective, wire::Collective::none);
}

TEST_F(RefereeTest, CallsAreInOrderThoughTheirNumbersWrapAround) {
  for (std::uint32_t call : {0x60000000u, 0xc0000000u, UINT32_MAX}) {
    ASSERT_TRUE(referee_.begin(call, of_elements(100)).ok());
    referee_.end(call);
  }
  expect_ok(UINT32_MAX, 1, 100);
  EXPECT_TRUE(referee_.look(begin + second, never_ns).empty()) << "it is past";
  expect_ok(3, 1, 100);
  EXPECT_EQ(referee_.look(begin + second, never_ns).size(), 1u) << "it is to come";
}

TEST_F(RefereeTest, FollowsNoMoreCallsThanItHasPlaceFor) {
  for (std::uint32_t call = 3; call <= 3 * 1000; call += 3) expect_ok(call, 1, 100);
  EXPECT_EQ(referee_.look(begin + second, never_ns).size(), 256u);
  EXPECT_EQ(referee_.on_report(3, 2, of_elements(1), begin).code(), Code::mismatch) << "those it follows stay";
}

}  // namespace
}  // namespace hps::test
