// SPDX-License-Identifier: BSD-3-Clause
#include "engine/survey.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace hps::test {
namespace {

constexpr TimeNs ms = 1'000'000;
const std::vector<Rank> probes = {10, 11, 12, 13, 14};

// Answers every order as links of these rates would, until the survey is done; how many orders it took.
int answer_all(Survey& survey, const std::map<Rank, double>& rates, TimeNs now) {
  int orders = 0;
  for (auto given = survey.take_orders(); !given.empty(); given = survey.take_orders()) {
    for (const Survey::Order& order : given) {
      ++orders;
      const double rate = std::min(rates.at(order.sender), rates.at(order.what.to));
      const double bytes = order.what.messages / 2.0 * order.what.message_bytes;
      const wire::Measured measured{order.sender, static_cast<std::uint64_t>(bytes),
                                    static_cast<TimeNs>(bytes / rate * 1e9)};
      EXPECT_EQ(survey.on_measured(order.number, order.what.to, measured, now), Rejection::none);
    }
  }
  return orders;
}

TEST(SurveyTest, FindsEveryNodesRate) {
  const std::map<Rank, double> rates = {{10, 12.5e6}, {11, 12.5e6}, {12, 3e6}, {13, 625e6}, {14, 12.5e6}};
  Survey survey(probes, {}, 1, 0);
  answer_all(survey, rates, 0);
  ASSERT_TRUE(survey.done());
  const std::vector<double> found = survey.rates();
  EXPECT_NEAR(found[0], 12.5e6, 1e3);
  EXPECT_NEAR(found[2], 3e6, 1e3);
  EXPECT_NEAR(found[3], 12.5e6, 1e3);  // nobody is fast enough to show more
}

TEST(SurveyTest, ATrainThatIsTooShortIsSentAgainLonger) {
  Survey survey(probes, {}, 1, 0);
  const std::vector<Survey::Order> first = survey.take_orders();
  ASSERT_EQ(first.size(), probes.size());
  EXPECT_EQ(survey.on_measured(first[0].number, first[0].what.to, {10, 240'000, 1 * ms}, 0), Rejection::none);
  const std::vector<Survey::Order> again = survey.take_orders();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].sender, 10);
  EXPECT_EQ(again[0].what.to, first[0].what.to);
  EXPECT_GE(again[0].what.messages, 8 * first[0].what.messages);
}

TEST(SurveyTest, TrainsDoNotGrowWithoutEnd) {
  std::map<Rank, double> rates;
  for (Rank probe : probes) rates[probe] = 1e15;
  Survey survey(probes, {}, 1, 0);
  answer_all(survey, rates, 0);
  EXPECT_TRUE(survey.done());
}

TEST(SurveyTest, OnlyTheRightAnswersCount) {
  Survey survey(probes, {}, 5, 0);
  const std::vector<Survey::Order> orders = survey.take_orders();
  const wire::Measured measured{10, 240'000, 20 * ms};
  EXPECT_EQ(survey.on_measured(4, orders[0].what.to, measured, 0), Rejection::late);
  EXPECT_EQ(survey.on_measured(0, orders[0].what.to, measured, 0), Rejection::late);
  EXPECT_EQ(survey.on_measured(orders[0].number, 10, measured, 0), Rejection::unexpected);
  EXPECT_EQ(survey.on_measured(orders[1].number, orders[0].what.to, measured, 0), Rejection::unexpected);
  EXPECT_EQ(survey.on_measured(orders[0].number, orders[0].what.to, measured, 0), Rejection::none);
  EXPECT_EQ(survey.on_measured(orders[0].number, orders[0].what.to, measured, 0), Rejection::late);
}

TEST(SurveyTest, TwoNodesAreEnough) {
  Survey survey({3, 4}, {}, 1, 0);
  EXPECT_EQ(answer_all(survey, {{3, 12.5e6}, {4, 12.5e6}}, 0), 2);
  EXPECT_TRUE(survey.done());
}

TEST(SurveyTest, ItsPatienceEndsWithoutNewsAndItNamesWhomItWaitsFor) {
  Survey survey({3, 4, 5}, {}, 1, 7 * ms);
  const std::vector<Survey::Order> orders = survey.take_orders();
  const TimeNs deadline = survey.deadline();
  EXPECT_GT(deadline, 7 * ms);
  EXPECT_EQ(survey.on_measured(orders[0].number, 4, {3, 240'000, 20 * ms}, 100 * ms), Rejection::none);
  EXPECT_EQ(survey.deadline(), deadline + 93 * ms);
  std::vector<Rank> awaited;
  survey.add_awaited(&awaited);
  EXPECT_EQ(awaited, (std::vector<Rank>{4, 5, 5, 3}));
}

}  // namespace
}  // namespace hps::test
