// SPDX-License-Identifier: BSD-3-Clause
#include "common/versions.h"

#include <gtest/gtest.h>

#include "hps.h"

namespace hps {
namespace {

#define HPS_TEXT_OF(words) #words
#define HPS_TEXT(words) HPS_TEXT_OF(words)

TEST(VersionsTest, OfHpsIsThatOfTheHeader) {
  EXPECT_EQ(hps_version(), HPS_TEXT(HPS_VERSION_MAJOR) "." HPS_TEXT(HPS_VERSION_MINOR) "." HPS_TEXT(HPS_VERSION_PATCH));
}

TEST(VersionsTest, OfMpiIsOneLine) {
  EXPECT_FALSE(mpi_library().empty());
  EXPECT_EQ(mpi_library().find('\n'), std::string::npos);
}

}  // namespace
}  // namespace hps
