// SPDX-License-Identifier: BSD-3-Clause
// The same bits whatever carries a call out: each algorithm, any number of CPU-only ranks, chunk size, window, link
// rates, order of arrival. Held against a serial evaluation of the canonical tree, on operands on which another order
// gives other bits.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "engine/simulation.h"
#include "summation/reference.h"

namespace hps::test {
namespace {

constexpr std::uint64_t count = 9001;

std::vector<std::vector<float>> wild_vectors(std::uint32_t members) {
  std::mt19937 random(members);
  std::uniform_int_distribution<int> exponent(-20, 20);
  std::uniform_real_distribution<float> mantissa(-1, 1);
  std::vector<std::vector<float>> vectors(members, std::vector<float>(count));
  for (auto& vector : vectors) {
    for (float& value : vector) value = std::ldexp(mantissa(random), exponent(random));
  }
  return vectors;
}

std::vector<float> left_to_right_sum(const std::vector<std::vector<float>>& vectors) {
  std::vector<float> sum = vectors.front();
  for (std::size_t m = 1; m < vectors.size(); ++m) {
    for (std::uint64_t i = 0; i < count; ++i) sum[i] += vectors[m][i];
  }
  return sum;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Runs one call with these options, and expects the canonical bits on every member.
template <class T>
void expect_canonical(const SimulationOptions& options, Datatype type, Op op,
                      const std::vector<std::vector<T>>& vectors) {
  Simulation simulation(options);
  const std::size_t group = simulation.open_group_of_all();
  const std::size_t elements = vectors[0].size();
  std::vector<reference::Buffer<T>> sent, results;
  std::vector<std::unique_ptr<Operation>> operations;
  for (std::uint32_t m = 0; m < options.workers; ++m) {
    sent.emplace_back(elements, 0);
    for (std::size_t i = 0; i < elements; ++i) sent[m].set(i, vectors[m][i]);
    results.emplace_back(elements, 0);
  }
  for (std::uint32_t m = 0; m < options.workers; ++m) {
    const allreduce_hetero::Arguments arguments{static_cast<const std::byte*>(sent[m].data()),
                                                static_cast<std::byte*>(results[m].data()), elements, type, op};
    operations.push_back(make_allreduce_hetero(simulation.membership(group, m), arguments));
    simulation.membership(group, m).start(*operations[m]);
    simulation.network().wake(static_cast<Rank>(m));
  }
  simulation.network().run();
  const std::vector<T> expected = reference::evaluate(simulation.membership(group, 0).spec().layout, op, vectors);
  for (std::uint32_t m = 0; m < options.workers; ++m) {
    ASSERT_TRUE(operations[m]->done());
    simulation.membership(group, m).finish(*operations[m]);
    EXPECT_EQ(results[m].difference(expected), "")
        << "member " << m << " of " << options.workers << ", " << options.cpu_only << " CPU-only, "
        << options.ranks_a_node << " a node";
    EXPECT_TRUE(results[m].guards_intact());
  }
}

class Bits : public testing::TestWithParam<std::tuple<std::uint32_t, std::uint32_t>> {
 protected:
  SimulationOptions options() const {
    SimulationOptions options;
    options.workers = std::get<0>(GetParam());
    options.ranks_a_node = std::get<1>(GetParam());
    return options;
  }
};

TEST_P(Bits, AreThoseOfTheCanonicalTree) {
  const auto vectors = wild_vectors(options().workers);
  for (Algorithm algorithm : all_algorithms) {
    for (std::uint32_t cpu_only : {0u, 1u, 3u, 8u}) {
      for (std::uint32_t chunk_bytes : {64u, 1000u, 16384u}) {
        for (std::uint64_t seed : {1u, 2u}) {
          SimulationOptions one = options();
          one.cpu_only = cpu_only;
          one.plan.algorithm = algorithm;
          one.plan.chunk_bytes = chunk_bytes;
          one.plan.window = seed == 1 ? 0 : 5;
          one.network.seed = seed;
          one.sum_threads = seed == 1 ? 1 : 3;
          one.network.jitter_ns = seed == 1 ? 0 : 3'000'000;
          expect_canonical(one, Datatype::float32, Op::sum, vectors);
        }
      }
    }
  }
}

TEST_P(Bits, OfEveryTypeAndOperation) {
  reference::Random random(options().workers);
  reference::for_each_reduction([&]<class T>(Datatype type, Op op) {
    SCOPED_TRACE(testing::Message() << datatype_name(type) << ' ' << op_name(op));
    std::vector<std::vector<T>> vectors(options().workers);
    for (auto& vector : vectors) {
      while (vector.size() < 307) vector.push_back(reference::any_value<T>(random));
    }
    for (Algorithm algorithm : all_algorithms) {
      SimulationOptions one = options();
      one.cpu_only = 1;
      one.plan.algorithm = algorithm;
      one.plan.chunk_bytes = 256;
      expect_canonical(one, type, op, vectors);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Jobs, Bits,
                         testing::Combine(testing::Values(2u, 3u, 5u, 7u, 8u), testing::Values(1u, 2u, 3u)));

// Else the tests above could not fail.
TEST(BitsTest, AnotherOrderGivesOtherBits) {
  for (std::uint32_t members : {4u, 5u, 8u}) {
    const auto vectors = wild_vectors(members);
    const auto canonical = reference::evaluate(reference::flat_layout(members), Op::sum, vectors);
    EXPECT_FALSE(same_bits(canonical, left_to_right_sum(vectors))) << members;
  }
}

}  // namespace
}  // namespace hps::test
