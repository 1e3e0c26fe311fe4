// SPDX-License-Identifier: BSD-3-Clause
#include "util/status.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace hps {
namespace {

TEST(StatusTest, DefaultIsOk) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), Code::ok);
  EXPECT_EQ(status.who(), no_rank);
  EXPECT_EQ(status.text(), "");
  EXPECT_EQ(status.to_string(), "success");
}

TEST(StatusTest, ErrorCarriesCodeSentenceAndRank) {
  const Status status(Code::invalid_count, "count -1 is negative", 3);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), Code::invalid_count);
  EXPECT_EQ(status.who(), 3);
  EXPECT_EQ(status.text(), "count -1 is negative");
  EXPECT_EQ(status.to_string(), "invalid count: count -1 is negative");
}

TEST(StatusTest, ErrorMaySpeakOfNobodyAndSayNothing) {
  const Status status(Code::no_memory, "");
  EXPECT_EQ(status.who(), no_rank);
  EXPECT_EQ(status.to_string(), "out of memory");
}

TEST(StatusTest, CopiesAreEqualAndOutliveTheirSource) {
  Status copy;
  {
    const Status status(Code::peer_failed, "rank 2 is gone", 2);
    copy = status;
    EXPECT_EQ(status.text(), "rank 2 is gone");
  }
  EXPECT_EQ(copy.code(), Code::peer_failed);
  EXPECT_EQ(copy.text(), "rank 2 is gone");
  const Status moved = std::move(copy);
  EXPECT_EQ(moved.who(), 2);
}

TEST(StatusTest, EveryCodeHasATextOfItsOwn) {
  std::set<std::string> texts;
  for (int code = 0; code < code_count; ++code) {
    const std::string text = code_text(static_cast<Code>(code));
    EXPECT_NE(text, "") << "code " << code;
    EXPECT_NE(text, "unknown error") << "code " << code;
    EXPECT_TRUE(texts.insert(text).second) << text << " stands for two codes";
  }
  EXPECT_STREQ(code_text(static_cast<Code>(code_count)), "unknown error");
}

Status twice(const Status& first, int* reached) {
  *reached = 1;
  HPS_RETURN_IF_ERROR(first);
  *reached = 2;
  return Status(Code::internal, "the end");
}

TEST(StatusTest, ReturnIfErrorReturnsErrorsAlone) {
  int reached = 0;
  EXPECT_EQ(twice(Status(), &reached).text(), "the end");
  EXPECT_EQ(reached, 2);
  const Status status = twice(Status(Code::protocol, "too short", 5), &reached);
  EXPECT_EQ(reached, 1);
  EXPECT_EQ(status.code(), Code::protocol);
  EXPECT_EQ(status.text(), "too short");
  EXPECT_EQ(status.who(), 5);
}

TEST(StatusTest, ReturnIfErrorIsOneStatement) {
  const auto check = [](bool asked, const Status& status) -> Status {
    if (asked)
      HPS_RETURN_IF_ERROR(status);
    else
      return Status(Code::unsupported, "");
    return {};
  };
  EXPECT_EQ(check(false, {}).code(), Code::unsupported);
  EXPECT_EQ(check(true, Status(Code::mismatch, "")).code(), Code::mismatch);
  EXPECT_TRUE(check(true, {}).ok());
}

}  // namespace
}  // namespace hps
