// SPDX-License-Identifier: BSD-3-Clause
#include "perf/pattern.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "reference/elements.h"

namespace hps::perf {
namespace {

template <class T>
T value_of(const reference::Bytes<T>& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

constexpr std::uint64_t count = 1000;

// The oracle shares nothing with Pattern but the contributions: it reads them back and combines them serially.
template <class T>
std::vector<T> expected(Datatype type, Op op, std::uint32_t ranks, std::uint64_t shift) {
  std::vector<reference::Partial<T>> partial;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::vector<reference::Bytes<T>> contribution(count);
    Pattern(type, op, ranks, rank).fill(contribution.data(), count, shift);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto value = reference::to_partial<T>(value_of<T>(contribution[i]));
      if (rank == 0) {
        partial.push_back(value);
      } else {
        partial[i] = reference::apply<reference::Partial<T>>(op, partial[i], value);
      }
    }
  }
  std::vector<T> result;
  for (const auto& value : partial) result.push_back(reference::finished<T>(value));
  return result;
}

TEST(PatternTest, EveryDatatypeAndOpAgainstASerialReference) {
  reference::for_each_reduction([]<class T>(Datatype type, Op op) {
    for (const std::uint32_t ranks : {1u, 2u, 3u, 8u, 13u}) {
      SCOPED_TRACE(std::string(datatype_name(type)) + " " + op_name(op) + " " + std::to_string(ranks));
      const Pattern pattern(type, op, ranks, ranks - 1);
      std::vector<reference::Bytes<T>> result;
      for (const auto& value : expected<T>(type, op, ranks, 77)) result.push_back(reference::bytes_of<T>(value));
      EXPECT_EQ(pattern.count_wrong(result.data(), count, 77), 0u);
      EXPECT_GT(pattern.count_wrong(result.data(), count, 78), 0u);
      for (std::size_t i : {0u, 500u, 999u}) result[i][0] ^= std::byte{1};
      EXPECT_EQ(pattern.count_wrong(result.data(), count, 77), 3u);
      EXPECT_EQ(pattern.count_wrong(result.data(), 500, 77), 1u);
    }
  });
}

// What makes a check independent of the order of operations.
TEST(PatternTest, FloatSumsAndProductsAreExactInEveryOrder) {
  for (const Op op : {Op::sum, Op::prod}) {
    for (const float value : expected<float>(Datatype::float32, op, 300, 0)) {
      EXPECT_EQ(value, std::nearbyint(value));
      EXPECT_LT(std::abs(value), 0x1p24f);
    }
  }
}

TEST(PatternTest, AMissingOrDoubledContributionShows) {
  for (const Op op : {Op::sum, Op::prod}) {
    const Pattern pattern(Datatype::int32, op, 12, 0);
    for (std::uint32_t other = 0; other < 12; ++other) {
      std::vector<std::int32_t> result = expected<std::int32_t>(Datatype::int32, op, 12, 0);
      std::vector<std::int32_t> contribution(count);
      Pattern(Datatype::int32, op, 12, other).fill(contribution.data(), count, 0);
      for (std::uint64_t i = 0; i < count; ++i) {
        result[i] = op == Op::sum ? result[i] + contribution[i] : result[i] * contribution[i];
      }
      EXPECT_GT(pattern.count_wrong(result.data(), count, 0), count / 4);
    }
  }
}

TEST(PatternTest, EveryRankContributesSomethingElse) {
  std::vector<std::int64_t> first(count);
  std::vector<std::int64_t> second(count);
  for (const Op op : {Op::sum, Op::prod, Op::min}) {
    Pattern(Datatype::int64, op, 10, 8).fill(first.data(), count, 0);
    Pattern(Datatype::int64, op, 10, 9).fill(second.data(), count, 0);
    EXPECT_NE(first, second);
  }
}

TEST(PatternTest, FillWritesNoFurtherThanCount) {
  std::vector<std::uint8_t> buffer(600, 0xee);
  Pattern(Datatype::int16, Op::sum, 2, 0).fill(buffer.data() + 1, 290, 200);
  EXPECT_EQ(buffer[0], 0xee);
  for (std::size_t i = 581; i < buffer.size(); ++i) EXPECT_EQ(buffer[i], 0xee);
}

TEST(PatternTest, AZeroOfTheWrongSignIsWrong) {
  const Pattern pattern(Datatype::float32, Op::sum, 1, 0);
  std::vector<float> result = expected<float>(Datatype::float32, Op::sum, 1, 0);
  std::uint64_t zeros = 0;
  for (float& value : result) {
    if (value != 0) continue;
    value = -0.0f;
    ++zeros;
  }
  ASSERT_GT(zeros, 0u);
  EXPECT_EQ(pattern.count_wrong(result.data(), count, 0), zeros);
}

}  // namespace
}  // namespace hps::perf
