// SPDX-License-Identifier: BSD-3-Clause
#include "common/wait_policy.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace hps {
namespace {

constexpr char variable[] = "OMP_WAIT_POLICY";

// Runs this program with arguments that choose one of its tests, if it is started anew. Every test's body is run in a
// process of its own, for it changes the environment or executes another program.
void use_policy_in(std::string filter) {
  std::string name = "programs_test";
  std::string disabled_too = "--gtest_also_run_disabled_tests";
  filter.insert(0, "--gtest_filter=");
  char* argv[] = {name.data(), filter.data(), disabled_too.data(), nullptr};
  use_passive_wait_policy(argv);
}

constexpr int came_back = 99;

TEST(WaitPolicyDeathTest, WhatIsSetStays) {
  const auto body = [] {
    setenv(variable, "active", 1);
    use_policy_in("none");
    std::exit(std::getenv(variable) == std::string("active") ? came_back : 1);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(came_back), "");
}

TEST(WaitPolicyDeathTest, ProgramStartsAnewWhereNothingIsSet) {
  const auto body = [] {
    unsetenv(variable);
    use_policy_in("WaitPolicyTest.DISABLED_IsPassive");
    std::exit(came_back);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

// What the program of the test above runs.
TEST(WaitPolicyTest, DISABLED_IsPassive) { EXPECT_STREQ(std::getenv(variable), "passive"); }

}  // namespace
}  // namespace hps
