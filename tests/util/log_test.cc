// SPDX-License-Identifier: BSD-3-Clause
#include "util/log.h"

#include <gtest/gtest.h>

#include <functional>

namespace hps {
namespace {

std::string written(const std::function<void()>& action) {
  testing::internal::CaptureStderr();
  action();
  return testing::internal::GetCapturedStderr();
}

// One message at every level.
std::string all_levels(const Log& log) {
  return written([&] {
    log.error("e");
    log.warn("w");
    log.info("i");
    log.debug("d");
  });
}

TEST(LogTest, WritesWhatItsLevelAllows) {
  EXPECT_EQ(all_levels(Log(LogLevel::error, 3)), "hps[3] error: e\n");
  EXPECT_EQ(all_levels(Log(LogLevel::warn, 3)), "hps[3] error: e\nhps[3] warn: w\n");
  EXPECT_EQ(all_levels(Log(LogLevel::info, 3)), "hps[3] error: e\nhps[3] warn: w\nhps[3] info: i\n");
  EXPECT_EQ(all_levels(Log(LogLevel::debug, 0)), "hps[0] error: e\nhps[0] warn: w\nhps[0] info: i\nhps[0] debug: d\n");
}

TEST(LogTest, DefaultWarnsAndNamesNoRank) { EXPECT_EQ(all_levels(Log()), "hps error: e\nhps warn: w\n"); }

TEST(LogTest, EnabledAgreesWithWhatIsWritten) {
  const Log log(LogLevel::info, 0);
  EXPECT_TRUE(log.enabled(LogLevel::error));
  EXPECT_TRUE(log.enabled(LogLevel::info));
  EXPECT_FALSE(log.enabled(LogLevel::debug));
}

TEST(LogTest, TextIsNotAFormat) {
  EXPECT_EQ(written([] { Log().error("100%s of %d"); }), "hps error: 100%s of %d\n");
}

TEST(LogTest, LongTextsAreWhole) {
  const std::string text(10000, 'x');
  EXPECT_EQ(written([&] { Log().error(text); }), "hps error: " + text + "\n");
}

}  // namespace
}  // namespace hps
