// SPDX-License-Identifier: BSD-3-Clause
#include "common/json.h"

#include <gtest/gtest.h>

namespace hps {
namespace {

TEST(JsonTest, StringsAreEscaped) {
  EXPECT_EQ(json_string("plain \xc3\xa9"), "\"plain \xc3\xa9\"");
  EXPECT_EQ(json_string("a\"b\\c\n\x01"), R"("a\"b\\c\u000a\u0001")");
}

}  // namespace
}  // namespace hps
