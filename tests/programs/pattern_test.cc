// SPDX-License-Identifier: BSD-3-Clause
#include "perf/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace hps::perf {
namespace {

// An oracle that shares nothing with Pattern but the contributions: it reads them back and combines them serially, in
// long double or modulo 2^128, cut to the type's width at the end.
template <class T>
T combine(Op op, const std::vector<T>& values) {
  using Exact = std::conditional_t<std::is_floating_point_v<T>, long double, unsigned __int128>;
  if (op == Op::min) return *std::min_element(values.begin(), values.end());
  if (op == Op::max) return *std::max_element(values.begin(), values.end());
  Exact result = op == Op::sum ? 0 : 1;
  for (const T value : values) {
    if (op == Op::sum) result += static_cast<Exact>(value);
    if (op == Op::prod) result *= static_cast<Exact>(value);
  }
  return static_cast<T>(result);
}

constexpr std::uint64_t count = 1000;

template <class T>
std::vector<T> expected(Datatype type, Op op, std::uint32_t ranks, std::uint64_t shift) {
  std::vector<std::vector<T>> contributions;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    contributions.emplace_back(count);
    Pattern(type, op, ranks, rank).fill(contributions.back().data(), count, shift);
  }
  std::vector<T> result(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::vector<T> values;
    values.reserve(ranks);
    for (const auto& contribution : contributions) values.push_back(contribution[i]);
    result[i] = combine(op, values);
  }
  return result;
}

template <class T>
void expect_right_results_pass_and_wrong_ones_count(Datatype type) {
  for (std::uint8_t o = 0; o < op_count; ++o) {
    const Op op = static_cast<Op>(o);
    for (const std::uint32_t ranks : {1u, 2u, 3u, 8u, 13u}) {
      SCOPED_TRACE(std::string(datatype_name(type)) + " " + op_name(op) + " " + std::to_string(ranks));
      const Pattern pattern(type, op, ranks, ranks - 1);
      std::vector<T> result = expected<T>(type, op, ranks, 77);
      EXPECT_EQ(pattern.count_wrong(result.data(), count, 77), 0u);
      EXPECT_GT(pattern.count_wrong(result.data(), count, 78), 0u);
      result[0] = static_cast<T>(result[0] + 1);
      result[500] = static_cast<T>(result[500] + 1);
      result[999] = static_cast<T>(result[999] + 1);
      EXPECT_EQ(pattern.count_wrong(result.data(), count, 77), 3u);
      EXPECT_EQ(pattern.count_wrong(result.data(), 500, 77), 1u);
    }
  }
}

TEST(PatternTest, EveryDatatypeAndOpAgainstASerialReference) {
#define HPS_DATATYPE(name, ctype) expect_right_results_pass_and_wrong_ones_count<ctype>(Datatype::name);
#include "util/datatypes.def"
#undef HPS_DATATYPE
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
