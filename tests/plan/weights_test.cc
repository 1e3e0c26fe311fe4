// SPDX-License-Identifier: BSD-3-Clause
#include "plan/weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "plan/sequence.h"
#include "plan/shares.h"

namespace hps {
namespace {

using Weights = std::vector<std::uint32_t>;

std::int64_t sum(const Weights& weights) { return std::accumulate(weights.begin(), weights.end(), std::int64_t{0}); }

// The largest factor by which a node's part of the whole is more than its share.
double growth(const std::vector<double>& shares, const Weights& weights) {
  double most = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (weights[i] > 0) most = std::max(most, weights[i] / (shares[i] * static_cast<double>(sum(weights))));
  }
  return most;
}

TEST(EqualWeights, AreTheFormulasNumerators) {
  for (std::uint32_t n = 3; n <= 64; ++n) {
    for (std::uint32_t k = 1; k <= 80; ++k) {
      const Weights weights = equal_weights(n, k);
      ASSERT_EQ(weights.size(), n + k);
      const std::uint32_t worker = weights.front();
      const std::uint32_t cpu_only = weights.back();
      // worker : cpu_only = n-k : 2(n-1), in lowest terms.
      ASSERT_EQ(worker * 2 * (n - 1), cpu_only * (n > k ? n - k : 0));
      ASSERT_EQ(std::gcd(worker, cpu_only), 1u);
      for (std::uint32_t i = 0; i < n + k; ++i) ASSERT_EQ(weights[i], i < n ? worker : cpu_only);
    }
  }
}

TEST(EqualWeights, KnowTheEdges) {
  EXPECT_EQ(equal_weights(1, 0), (Weights{1}));
  EXPECT_EQ(equal_weights(1, 2), (Weights{1, 0, 0}));
  EXPECT_EQ(equal_weights(2, 3), (Weights{1, 1, 0, 0, 0}));
  EXPECT_EQ(equal_weights(3, 0), (Weights{1, 1, 1}));
  EXPECT_EQ(equal_weights(3, 4), (Weights{0, 0, 0, 1, 1, 1, 1}));
}

TEST(EqualWeights, LargeGroupsHaveShortPeriods) {
  const Weights weights = equal_weights(1024, 512);  // exactly: 512 to 2046, a period of 785,408
  EXPECT_EQ(weights.front(), 1u);
  EXPECT_EQ(weights.back(), 4u);
  for (std::uint32_t n = 100; n < 2000; n += 131) {
    for (std::uint32_t k = 1; k < n; k += 97) {
      Shares shares = equal_shares(n, k);
      shares.worker.insert(shares.worker.end(), shares.cpu_only.begin(), shares.cpu_only.end());
      const Weights of_n_k = equal_weights(n, k);
      // Rounding down loses less than one chunk a node.
      const double lost = (n + k) / static_cast<double>(ChunkSequence::max_period);
      ASSERT_LE(growth(shares.worker, of_n_k), std::max(1.001, 1 / (1 - lost)) + 1e-9) << n << " " << k;
      ASSERT_LE(sum(of_n_k), ChunkSequence::max_period);
    }
  }
}

TEST(WeightsOfShares, FindTheShortPeriod) {
  EXPECT_EQ(weights_of_shares({1}), (Weights{1}));
  EXPECT_EQ(weights_of_shares({0.5, 0.25, 0.25}), (Weights{2, 1, 1}));
  EXPECT_EQ(weights_of_shares({3.0 / 49, 16.0 / 49, 30.0 / 49}), (Weights{3, 16, 30}));
  EXPECT_EQ(weights_of_shares({0, 1.0 / 3, 2.0 / 3}), (Weights{0, 1, 2}));
}

TEST(WeightsOfShares, OverloadNobody) {
  std::mt19937 random(11);
  for (const std::size_t nodes : {2u, 3u, 12u, 17u, 40u, 200u, 1000u}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<double> shares(nodes);
      for (double& share : shares) share = 1 + static_cast<double>(random() % 100000) / 1000;
      const double whole = std::accumulate(shares.begin(), shares.end(), 0.0);
      for (double& share : shares) share /= whole;
      const Weights weights = weights_of_shares(shares);
      ASSERT_LE(growth(shares, weights), nodes <= 200 ? 1.001 + 1e-9 : 1.004) << nodes << " nodes";
      ASSERT_LE(sum(weights), ChunkSequence::max_period);
    }
  }
}

TEST(WeightsOfShares, EqualSharesGetEqualWeights) {
  const double third = 1.0 / 3;
  const Weights weights = weights_of_shares({third * 0.9137, third * 0.9137, third * 0.9137, 1 - 0.9137});
  EXPECT_EQ(weights[0], weights[1]);
  EXPECT_EQ(weights[0], weights[2]);
}

TEST(WeightsOfShares, DropWhatIsTooSmall) {
  const Weights weights = weights_of_shares({0.5, 0.5 - 1e-7, 1e-7});
  EXPECT_GT(weights[0], 0u);
  EXPECT_GT(weights[1], 0u);
  EXPECT_EQ(weights[2], 0u);
}

TEST(WeightsOfShares, AsManyNodesAsAllowed) {
  const Weights weights = weights_of_shares(std::vector<double>(max_plan_nodes, 1.0 / max_plan_nodes));
  EXPECT_EQ(weights, Weights(max_plan_nodes, 1));
}

TEST(SplitOverOwners, IsEvenWhereThatIsShort) {
  EXPECT_EQ(split_over_owners({2, 7}, {1, 1}), (Weights{2, 7}));
  EXPECT_EQ(split_over_owners({2, 7}, {2, 1}), (Weights{1, 1, 7}));
  EXPECT_EQ(split_over_owners({2, 7}, {1, 2}), (Weights{4, 7, 7}));
  EXPECT_EQ(split_over_owners({2, 3}, {3, 2}), (Weights{4, 4, 4, 9, 9}));
  EXPECT_EQ(split_over_owners({0, 1}, {7, 2}), (Weights{0, 0, 0, 0, 0, 0, 0, 1, 1}));
}

TEST(SplitOverOwners, KeepsNodesExactAndOwnersWithinOne) {
  const Weights nodes{1, 20000, 30000};
  const Weights owners{3, 7, 11};
  const Weights weights = split_over_owners(nodes, owners);
  auto owner = weights.begin();
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const Weights own(owner, owner + owners[node]);
    owner += owners[node];
    EXPECT_EQ(sum(own), nodes[node]);
    EXPECT_LE(*std::max_element(own.begin(), own.end()) - *std::min_element(own.begin(), own.end()), 1u);
  }
  EXPECT_TRUE(owner == weights.end());
}

TEST(SplitOverOwners, LengthensAShortPeriodAsFarAsSensible) {
  // 3 * 5 * 7 * 11 * 13 * 17 is too long for an even split.
  const Weights owners{3, 5, 7, 11, 13, 17};
  const Weights weights = split_over_owners({1, 1, 1, 1, 1, 1}, owners);
  EXPECT_GT(sum(weights), 60000);
  EXPECT_LE(sum(weights), 65536);
  auto owner = weights.begin();
  for (const std::uint32_t count : owners) {
    EXPECT_EQ(sum(Weights(owner, owner + count)), sum(weights) / 6);
    owner += count;
  }
}

}  // namespace
}  // namespace hps
