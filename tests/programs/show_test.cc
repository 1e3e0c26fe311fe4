// SPDX-License-Identifier: BSD-3-Clause
#include "info/show.h"

#include <gtest/gtest.h>

namespace hps::info {
namespace {

Facts some_facts() {
  Facts facts;
  facts.version = "1.2.3";
  facts.features = {{"mpi", "Some \"MPI\" 4"}, {"openmp", "no"}};
  facts.variables = {{"HPS_LOG", "warn", "warn", "what is said", false, ""},
                     {"HPS_CHUNK", "x", "0", "the largest chunk", true, "expected a size"}};
  facts.counters = {{"chunks", "chunks summed", false}, {"wrong_token", "for another process", true}};
  facts.unknown = {"HPS_CHUNKS"};
  return facts;
}

TEST(ShowTest, JsonIsTheWholeOfIt) {
  EXPECT_EQ(as_json(some_facts()), R"({
  "version": "1.2.3",
  "features": {
    "mpi": "Some \"MPI\" 4",
    "openmp": "no"},
  "variables": [
    {"name": "HPS_LOG", "value": "warn", "default": "warn", "is_set": false, "description": "what is said", "error": null},
    {"name": "HPS_CHUNK", "value": "x", "default": "0", "is_set": true, "description": "the largest chunk", "error": "expected a size"}],
  "counters": [
    {"name": "chunks", "meaning": "chunks summed", "is_rejection": false},
    {"name": "wrong_token", "meaning": "for another process", "is_rejection": true}],
  "unknown_variables": [
    "HPS_CHUNKS"]
}
)");
}

TEST(ShowTest, TextHasEveryFactOnce) {
  const std::string text = as_text(some_facts());
  for (const char* part :
       {"HPS 1.2.3\n", "Some \"MPI\" 4\n", "HPS_LOG=warn", "HPS_CHUNK=x", "(default: 0)",
        "    error: expected a size\n", "  chunks        chunks summed\nMessages are dropped, and counted,\n",
        "  wrong_token   for another process\n", "  HPS_CHUNKS\n"}) {
    const auto at = text.find(part);
    ASSERT_NE(at, std::string::npos) << part << " is not in\n" << text;
    EXPECT_EQ(text.find(part, at + 1), std::string::npos) << part << " is twice in\n" << text;
  }
}

TEST(ShowTest, WithoutUnknownVariablesThereIsNothingAboutThem) {
  Facts facts = some_facts();
  facts.unknown.clear();
  EXPECT_EQ(as_text(facts).find("not read by HPS"), std::string::npos);
  EXPECT_NE(as_json(facts).find("\"unknown_variables\": []"), std::string::npos);
}

}  // namespace
}  // namespace hps::info
