// SPDX-License-Identifier: BSD-3-Clause
#include "examples/digits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>

namespace example {
namespace {

std::string image_line(int pixel, int label) {
  std::string line;
  for (int i = 0; i < image_pixels; ++i) line += std::to_string(pixel) + ",";
  return line + std::to_string(label);
}

// A file of the given content, gone when the test ends.
class DigitsFile : public ::testing::Test {
 protected:
  std::string read(const std::string& content) {
    std::ofstream(path_) << content;
    return read_digits(path_, &digits_);
  }
  void TearDown() override { std::remove(path_.c_str()); }

  const std::string path_ = ::testing::TempDir() + "digits_test." +
                            std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name();
  Digits digits_;
};

// `count` images that differ in their first pixel.
Digits numbered_images(std::size_t count) {
  Digits digits;
  for (std::size_t i = 0; i < count; ++i) {
    digits.pixels.insert(digits.pixels.end(), image_pixels, 0.0F);
    digits.pixels[i * image_pixels] = static_cast<float>(i);
    digits.labels.push_back(static_cast<int>(i % class_count));
  }
  return digits;
}

std::multiset<float> first_pixels(const Digits& digits) {
  std::multiset<float> pixels;
  for (std::size_t i = 0; i < digits.count(); ++i) pixels.insert(digits.pixels[i * image_pixels]);
  return pixels;
}

TEST_F(DigitsFile, IsReadAndScaled) {
  ASSERT_EQ("", read(image_line(16, 7) + "\n" + image_line(4, 0) + "\n"));
  ASSERT_EQ(2U, digits_.count());
  EXPECT_EQ(7, digits_.labels[0]);
  EXPECT_EQ(1.0F, digits_.pixels[63]);
  EXPECT_EQ(0.25F, digits_.pixels[64]);
}

TEST_F(DigitsFile, WrongLinesAreNamed) {
  for (const std::string& wrong : {image_line(17, 0), image_line(-1, 0), image_line(0, 10), image_line(0, 1) + ",2",
                                   image_line(0, 1) + " x", std::string("1,2,3"), std::string(), std::string("a,b")}) {
    const std::string error = read(image_line(1, 1) + "\n" + wrong + "\n");
    EXPECT_NE(std::string::npos, error.find(":2: not 64 pixels")) << "'" << wrong << "' gave '" << error << "'";
    EXPECT_EQ(0U, digits_.count());
  }
}

TEST_F(DigitsFile, MissingAndEmptyFilesAreErrors) {
  EXPECT_NE("", read_digits(path_ + ".none", &digits_));
  EXPECT_NE("", read(""));
}

TEST(Shuffled, HoldsEveryNumberOnceAndFollowsFromTheSeed) {
  const std::vector<std::size_t> order = shuffled(100, 1);
  EXPECT_EQ(100U, std::set<std::size_t>(order.begin(), order.end()).size());
  EXPECT_EQ(99U, *std::max_element(order.begin(), order.end()));
  EXPECT_EQ(order, shuffled(100, 1));
  EXPECT_NE(order, shuffled(100, 2));
}

TEST(SplitDigits, SharesImagesOut) {
  const Digits all = numbered_images(50);
  Digits train, test;
  split_digits(all, 10, 1, &train, &test);
  EXPECT_EQ(40U, train.count());
  EXPECT_EQ(10U, test.count());
  std::multiset<float> both = first_pixels(train);
  both.merge(first_pixels(test));
  EXPECT_EQ(first_pixels(all), both);
}

// All images of an epoch, put together from the shards of so many workers.
std::multiset<float> epoch(const Batches& batches, std::size_t first_step, std::size_t steps, std::size_t workers) {
  std::multiset<float> seen;
  for (std::size_t step = first_step; step < first_step + steps; ++step)
    for (std::size_t worker = 0; worker < workers; ++worker)
      seen.merge(first_pixels(batches.shard(step, worker, workers)));
  return seen;
}

TEST(Batches, ShardsOfAnEpochHoldEveryImageOnceForAnyNumberOfWorkers) {
  const Digits images = numbered_images(60);
  const Batches batches(images, 20, 1);
  for (const std::size_t workers : {1U, 2U, 3U, 7U, 20U, 30U}) {
    EXPECT_EQ(first_pixels(images), epoch(batches, 0, 3, workers)) << workers;
    EXPECT_EQ(first_pixels(images), epoch(batches, 3, 3, workers)) << workers;
  }
}

TEST(Batches, AStepHasTheSameImagesForAnyNumberOfWorkersAndEpochsDiffer) {
  const Digits images = numbered_images(60);
  const Batches batches(images, 20, 1);
  EXPECT_EQ(epoch(batches, 1, 1, 1), epoch(batches, 1, 1, 3));
  EXPECT_NE(epoch(batches, 1, 1, 1), epoch(batches, 4, 1, 1));
}

}  // namespace
}  // namespace example
