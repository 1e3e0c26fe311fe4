// SPDX-License-Identifier: BSD-3-Clause
#include "util/random.h"

#include <gtest/gtest.h>

namespace hps {
namespace {

// The first numbers of Vigna's reference implementation (https://prng.di.unimi.it/splitmix64.c) for this seed.
TEST(RandomTest, NumbersAreThoseOfTheReference) {
  Random random(1234567);
  for (const std::uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                       4593380528125082431u, 16408922859458223821u}) {
    EXPECT_EQ(random.next(), expected);
  }
}

TEST(RandomTest, UpToReachesBothEndsAndNoMore) {
  Random random(1);
  bool seen[4] = {};
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t number = random.up_to(3);
    ASSERT_LE(number, 3u);
    seen[number] = true;
  }
  for (const bool each : seen) EXPECT_TRUE(each);
  EXPECT_EQ(random.up_to(0), 0u);
}

TEST(RandomTest, MixedBitsAreTheGeneratorsFirstNumber) { EXPECT_EQ(mix_bits(7), Random(7).next()); }

}  // namespace
}  // namespace hps
