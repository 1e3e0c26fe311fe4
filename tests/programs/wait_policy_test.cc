// SPDX-License-Identifier: BSD-3-Clause
#include "common/wait_policy.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace hps {
namespace {

constexpr char variable[] = "OMP_WAIT_POLICY";

// Every test's body is run in a process of its own, for it changes the environment or executes another program: this
// one again, which lists its tests and ends.
void use_policy() {
  std::string name = "programs_test";
  std::string list = "--gtest_list_tests";
  char* argv[] = {name.data(), list.data(), nullptr};
  use_passive_wait_policy(argv);
}

constexpr int came_back = 99;

TEST(WaitPolicyDeathTest, WhatIsSetStays) {
  const auto body = [] {
    setenv(variable, "active", 1);
    use_policy();
    std::exit(std::getenv(variable) == std::string("active") ? came_back : 1);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(came_back), "");
}

#ifdef _OPENMP
// OpenMP's own library says what it has read.
TEST(WaitPolicyDeathTest, ProgramStartsAnewWhereNothingIsSet) {
  const auto body = [] {
    unsetenv(variable);
    setenv("OMP_DISPLAY_ENV", "true", 1);
    use_policy();
    std::exit(came_back);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "OMP_WAIT_POLICY = 'PASSIVE'");
}
#endif

}  // namespace
}  // namespace hps
