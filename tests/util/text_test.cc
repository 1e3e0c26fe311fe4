// SPDX-License-Identifier: BSD-3-Clause
#include "util/text.h"

#include <gtest/gtest.h>

namespace hps {
namespace {

TEST(TextTest, LowerCaseChangesCapitalLettersAlone) {
  EXPECT_EQ(lower_case("@AZ[az_09 \xc3\x89"), "@az[az_09 \xc3\x89");
  EXPECT_EQ(lower_case(""), "");
}

TEST(TextTest, RanksAreListedAndManyAreCounted) {
  EXPECT_EQ(list_ranks({}), "");
  EXPECT_EQ(list_ranks({3}), "rank 3");
  EXPECT_EQ(list_ranks({3, 5}), "rank 3, rank 5");
  const std::string sixteen = list_ranks(std::vector<Rank>(16, 7));
  EXPECT_EQ(list_ranks(std::vector<Rank>(18, 7)), sixteen + " and 2 more");
}

}  // namespace
}  // namespace hps
