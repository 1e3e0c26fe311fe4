// SPDX-License-Identifier: BSD-3-Clause
#include "util/text.h"

#include <gtest/gtest.h>

namespace hps {
namespace {

TEST(TextTest, LowerCaseChangesCapitalLettersAlone) {
  EXPECT_EQ(lower_case("@AZ[az_09 \xc3\x89"), "@az[az_09 \xc3\x89");
  EXPECT_EQ(lower_case(""), "");
}

}  // namespace
}  // namespace hps
