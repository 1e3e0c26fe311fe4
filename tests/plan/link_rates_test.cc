// SPDX-License-Identifier: BSD-3-Clause
#include "plan/link_rates.h"

#include <gtest/gtest.h>

namespace hps {
namespace {

TEST(LinkRatesTest, ANodeIsAsFastAsTheBestOfItsPairsInTheWorseDirection) {
  // Node 2 is slow: whoever sends to it, and it itself, is slow; others are fast with each other.
  const std::vector<PairRate> pairs = {{0, 1, 10}, {1, 2, 3},  {2, 3, 3}, {3, 0, 10},
                                       {0, 2, 3},  {1, 3, 10}, {2, 0, 3}, {3, 1, 10}};
  EXPECT_EQ(link_rates(4, pairs), (std::vector<double>{10, 10, 3, 10}));
}

TEST(LinkRatesTest, WhereThereAreManyPairsOneThatWasTimedTooShortDoesNoHarm) {
  const std::vector<PairRate> pairs = {{0, 1, 10}, {1, 0, 10}, {0, 1, 25}, {1, 0, 10},
                                       {0, 1, 10}, {1, 0, 3},  {0, 1, 9},  {1, 0, 10}};
  EXPECT_EQ(link_rates(2, pairs), (std::vector<double>{10, 10}));
}

TEST(LinkRatesTest, TheWorseDirectionCounts) {
  // Node 0 sends slowly and receives fast.
  EXPECT_EQ(link_rates(3, {{0, 1, 2}, {0, 2, 2}, {1, 2, 10}, {2, 1, 10}, {1, 0, 10}, {2, 0, 10}}),
            (std::vector<double>{2, 10, 10}));
}

TEST(LinkRatesTest, ANodeInNoPairIsNotKnown) {
  EXPECT_EQ(link_rates(3, {{0, 1, 2}, {1, 0, 2}}), (std::vector<double>{2, 2, 0}));
}

TEST(EvenedOutTest, RatesCloseToEachOtherBecomeOne) {
  EXPECT_EQ(evened_out({100, 96, 98, 50, 47}), (std::vector<double>{98, 98, 98, 47, 47}));
  EXPECT_EQ(evened_out({100, 85, 71, 61}), (std::vector<double>{85, 85, 85, 61}));
  EXPECT_EQ(evened_out({100, 79, 60}), (std::vector<double>{100, 79, 60}));
  EXPECT_EQ(evened_out({}), std::vector<double>());
}

}  // namespace
}  // namespace hps
