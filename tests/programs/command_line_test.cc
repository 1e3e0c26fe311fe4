// SPDX-License-Identifier: BSD-3-Clause
#include "common/command_line.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/program_name.h"
#include "common/versions.h"

const char hps::program_name[] = "some_program";

namespace hps {
namespace {

struct Answer {
  int exit_code;
  std::string output;
  std::string error;
};

Answer answer_to(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "/path/of/some_program");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int exit_code = answer_argument(static_cast<int>(arguments.size()), arguments.data(), "how to use it\n");
  return {exit_code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(CommandLineTest, HelpAndVersionAreWrittenToStandardOutput) {
  for (const char* argument : {"-h", "--help"}) {
    const Answer answer = answer_to({argument});
    EXPECT_EQ(answer.exit_code, 0);
    EXPECT_EQ(answer.output, "how to use it\n");
    EXPECT_EQ(answer.error, "");
  }
  for (const char* argument : {"-V", "--version"}) {
    const Answer answer = answer_to({argument});
    EXPECT_EQ(answer.exit_code, 0);
    EXPECT_EQ(answer.output, "some_program (HPS) " + hps_version() + "\n");
    EXPECT_EQ(answer.error, "");
  }
}

TEST(CommandLineTest, AnythingElseIsRefusedByName) {
  const std::vector<std::vector<const char*>> cases = {{"x"}, {"--help", "x"}, {"-V", "-h", "x"}};
  for (const auto& arguments : cases) {
    const Answer answer = answer_to(arguments);
    EXPECT_EQ(answer.exit_code, 1);
    EXPECT_EQ(answer.output, "");
    EXPECT_EQ(answer.error, "some_program: unexpected argument x; see some_program --help\n");
  }
}

}  // namespace
}  // namespace hps
