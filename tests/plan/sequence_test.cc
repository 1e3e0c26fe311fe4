// SPDX-License-Identifier: BSD-3-Clause
// Chunk sequences: complete, and level in every prefix. All comparisons are in integers.
#include "plan/sequence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/plan/test_plan.h"

namespace hps {
namespace {

using Weights = std::vector<std::uint32_t>;

std::int64_t sum(const Weights& weights) { return std::accumulate(weights.begin(), weights.end(), std::int64_t{0}); }

ChunkSequence sequence_of(const Weights& weights) {
  ChunkSequence sequence;
  const Status status = ChunkSequence::create(weights, &sequence);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return sequence;
}

ChunkSequence sequence_of(const Weights& weights, const Weights& node_of) {
  ChunkSequence sequence;
  const Status status = ChunkSequence::create(weights, node_of, &sequence);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return sequence;
}

// n + k nodes as plans weigh them, odd weights, many equal ones beside a heavy one, zeros.
std::vector<Weights> cases() {
  std::vector<Weights> all{{1}, {5}, {1, 1}, {0, 3, 0, 2}, {1, 1000}, {7, 11, 13, 17}, {100000, 1, 99999}};
  all.push_back(Weights(64, 1));
  all.back().push_back(4000);
  all.push_back(Weights(8, 2));
  all.back().insert(all.back().end(), 4, 7);
  all.push_back(Weights(1024, 1));
  all.back().insert(all.back().end(), 512, 4);
  std::mt19937 random(7);
  const auto below = [&random](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  for (int round = 0; round < 50; ++round) {
    Weights weights(1 + below(20));
    for (std::uint32_t& weight : weights) weight = below(round % 2 == 0 ? 9 : 200);
    weights[0] += 1;
    all.push_back(weights);
  }
  return all;
}

// That in every prefix of two periods the count of every item of `weights` is less than `slack` from its fair part;
// item_of[owner] is the item that an owner's chunks count for.
void expect_level(const ChunkSequence& sequence, const Weights& weights, const Weights& item_of, std::int64_t slack) {
  const std::int64_t period = sequence.period();
  std::vector<std::int64_t> count(weights.size(), 0);
  for (std::int64_t length = 1; length <= 2 * period; ++length) {
    count[item_of[sequence.owner(static_cast<std::uint64_t>(length - 1))]] += 1;
    for (std::size_t item = 0; item < weights.size(); ++item) {
      const std::int64_t difference = count[item] * period - length * weights[item];
      ASSERT_LT(std::abs(difference), slack * period) << "item " << item << ", the first " << length << " chunks";
    }
  }
}

Weights identity(std::size_t count) {
  Weights items(count);
  std::iota(items.begin(), items.end(), 0u);
  return items;
}

TEST(ChunkSequence, EveryOwnerHasItsWeight) {
  for (const Weights& weights : cases()) {
    const ChunkSequence sequence = sequence_of(weights);
    ASSERT_EQ(sequence.period(), sum(weights));
    Weights count(weights.size(), 0);
    for (std::uint32_t chunk = 0; chunk < sequence.period(); ++chunk) ++count[sequence.owner(chunk)];
    ASSERT_EQ(count, weights);
  }
}

TEST(ChunkSequence, EveryPrefixIsWithinOneChunkOfFair) {
  for (const Weights& weights : cases()) {
    // Each prefix is compared for each owner: the largest cases are left to the test above.
    if (sum(weights) * static_cast<std::int64_t>(weights.size()) > 1000000) continue;
    expect_level(sequence_of(weights), weights, identity(weights.size()), 1);
  }
}

TEST(ChunkSequence, AnOwnersChunksAreEvenlySpaced) {
  for (const Weights& weights : cases()) {
    const ChunkSequence sequence = sequence_of(weights);
    std::vector<std::int64_t> last(weights.size(), -1);
    for (std::int64_t chunk = 0; chunk < 2 * std::int64_t{sequence.period()}; ++chunk) {
      const std::uint32_t owner = sequence.owner(static_cast<std::uint64_t>(chunk));
      const std::int64_t gap = last[owner] < 0 ? 0 : chunk - last[owner];
      // Two windows of period / weight chunks, each rounded outwards.
      ASSERT_LT((gap - 1) * weights[owner], 2 * std::int64_t{sequence.period()});
      last[owner] = chunk;
    }
  }
}

TEST(ChunkSequence, IsTheSameInEveryVersion) {
  // Ranks of a job may be built from different revisions: the order itself is part of the protocol.
  const ChunkSequence sequence = sequence_of({1, 1, 2, 3});
  const Weights expected{3, 2, 3, 0, 1, 2, 3};
  Weights order;
  for (std::uint32_t chunk = 0; chunk < sequence.period(); ++chunk) order.push_back(sequence.owner(chunk));
  EXPECT_EQ(order, expected);
  EXPECT_EQ(sequence.owner(7'000'000'000'003), sequence.owner(3));
}

TEST(ChunkSequence, LevelsNodesBeforeOwners) {
  // Six worker ranks on three nodes, and two CPU-only nodes with three and one; node numbers with gaps.
  const Weights weights{2, 2, 3, 1, 4, 0, 7, 7, 7, 21};
  const Weights node_of{0, 0, 1, 1, 2, 2, 5, 5, 5, 4};
  Weights node_weights(6, 0);
  for (std::size_t owner = 0; owner < weights.size(); ++owner) node_weights[node_of[owner]] += weights[owner];
  const ChunkSequence sequence = sequence_of(weights, node_of);
  EXPECT_EQ(sequence.period(), sum(weights));
  expect_level(sequence, node_weights, node_of, 1);
  expect_level(sequence, weights, identity(weights.size()), 2);
}

TEST(ChunkSequence, OneOwnerANodeIsTheSameAsNoNodes) {
  const Weights weights{3, 1, 4, 1, 5};
  const ChunkSequence with = sequence_of(weights, identity(5));
  const ChunkSequence without = sequence_of(weights);
  for (std::uint32_t chunk = 0; chunk < 14; ++chunk) EXPECT_EQ(with.owner(chunk), without.owner(chunk));
}

TEST(ChunkSequence, MostInSpanIsWhatCountingFinds) {
  for (const Weights& weights : {Weights{1}, {2, 2, 7, 7}, {1, 9, 3}, {0, 5, 1}}) {
    const ChunkSequence sequence = sequence_of(weights);
    for (std::uint32_t owner = 0; owner < weights.size(); ++owner) {
      for (std::uint32_t span = 0; span <= 3 * sequence.period() + 1; ++span) {
        std::uint32_t most = 0;
        for (std::uint32_t start = 0; start < sequence.period(); ++start) {
          std::uint32_t count = 0;
          for (std::uint32_t i = 0; i < span; ++i) count += sequence.owner(start + i) == owner;
          most = std::max(most, count);
        }
        ASSERT_EQ(sequence.most_in_span(owner, span), most) << "owner " << owner << ", span " << span;
      }
    }
  }
  EXPECT_EQ(sequence_of({1, 3}).most_in_span(1, UINT32_MAX), UINT32_MAX / 4 * 3 + 3);
}

TEST(ChunkSequence, CountInPrefixIsWhatCountingFinds) {
  const Weights weights{2, 0, 7, 3};
  const ChunkSequence sequence = sequence_of(weights);
  std::vector<std::uint64_t> count(weights.size(), 0);
  for (std::uint64_t chunks = 0; chunks < 40; ++chunks) {
    for (std::uint32_t owner = 0; owner < weights.size(); ++owner) {
      ASSERT_EQ(sequence.count_in_prefix(owner, chunks), count[owner]);
    }
    ++count[sequence.owner(chunks)];
  }
  EXPECT_EQ(sequence.count_in_prefix(2, 12'000'000'000'000), 7'000'000'000'000u);
}

TEST(ChunkSequence, RefusesWhatIsNoSequence) {
  ChunkSequence sequence = sequence_of({1, 2});
  expect_invalid(ChunkSequence::create({}, &sequence), "no owner");
  expect_invalid(ChunkSequence::create({0, 0}, &sequence), "no owner");
  expect_invalid(ChunkSequence::create({ChunkSequence::max_period, 1}, &sequence), "262145");
  expect_invalid(ChunkSequence::create({UINT32_MAX, UINT32_MAX, 2}, &sequence), "8589934592");
  expect_invalid(ChunkSequence::create({1, 1}, {0}, &sequence), "2 owners");
  expect_invalid(ChunkSequence::create({1, 1}, {0, ChunkSequence::max_period}, &sequence), "node is 262144");
  EXPECT_EQ(sequence.period(), 3u);
  EXPECT_TRUE(ChunkSequence::create({ChunkSequence::max_period - 1, 1}, &sequence).ok());
}

}  // namespace
}  // namespace hps
