// SPDX-License-Identifier: BSD-3-Clause
#include "examples/train_options.h"

#include <getopt.h>
#include <gtest/gtest.h>

#include <vector>

namespace example {
namespace {

std::string parse(std::vector<std::string> words, TrainOptions* options) {
  std::vector<char*> argv;
  words.insert(words.begin(), "train");
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  optind = 0;  // getopt starts anew.
  return parse_train_options(static_cast<int>(words.size()), argv.data(), options);
}

TEST(TrainOptions, AllAreRead) {
  TrainOptions options;
  ASSERT_EQ("",
            parse({"--data", "d", "--allreduce=mpi", "--steps", "7", "--batch", "8", "--hidden", "9", "--json", "j"},
                  &options));
  EXPECT_EQ("d", options.data);
  EXPECT_EQ(AllReduce::mpi, options.allreduce);
  EXPECT_EQ(7U, options.steps);
  EXPECT_EQ(8U, options.batch);
  EXPECT_EQ(9U, options.hidden);
  EXPECT_EQ("j", options.json);
}

TEST(TrainOptions, HpsIsTheDefault) {
  TrainOptions options;
  ASSERT_EQ("", parse({"--data", "d"}, &options));
  EXPECT_EQ(AllReduce::hps, options.allreduce);
}

TEST(TrainOptions, WrongOnesAreNamed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{}, "--data is missing"},
      {{"--data"}, "'--data' is unknown or lacks its value"},
      {{"--nonsense", "--data", "d"}, "'--nonsense' is unknown or lacks its value"},
      {{"--data", "d", "more"}, "'more' is not an option"},
      {{"--data", "d", "--allreduce", "nccl"}, "--allreduce: 'nccl' is neither hps nor mpi"},
      {{"--data", "d", "--steps", "0"}, "--steps: '0' is not a whole number from 1 to 1000000"},
      {{"--data", "d", "--batch", "-1"}, "--batch: '-1' is not a whole number from 1 to 1000"},
      {{"--data", "d", "--hidden", "9x"}, "--hidden: '9x' is not a whole number from 1 to 10000"},
      {{"--data", "d", "--hidden", ""}, "--hidden: '' is not a whole number from 1 to 10000"},
  };
  for (const auto& [words, message] : wrong) {
    TrainOptions options;
    EXPECT_EQ(message, parse(words, &options));
  }
}

}  // namespace
}  // namespace example
