// SPDX-License-Identifier: BSD-3-Clause
#include "plan/rates.h"

#include <gtest/gtest.h>

namespace hps {
namespace {

TEST(Rates, AreSplitByKind) {
  const Rates rates = rates_of({{false, 3, 0.5}, {false, 4, 0.5}, {true, 5, 0}});
  EXPECT_EQ(rates.worker, (std::vector<double>{3, 4}));
  EXPECT_EQ(rates.cpu_only, (std::vector<double>{5}));
}

TEST(Rates, AreAllKnownOrNot) {
  EXPECT_TRUE(all_known({{false, 3, 0.5}, {true, 1, 0.5}}));
  EXPECT_FALSE(all_known({{false, 3, 0.5}, {true, 0, 0.5}}));
}

}  // namespace
}  // namespace hps
