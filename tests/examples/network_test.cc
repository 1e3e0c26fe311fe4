// SPDX-License-Identifier: BSD-3-Clause
#include "examples/network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace example {
namespace {

Digits some_images(std::size_t count) {
  Digits images;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < image_pixels; ++j)
      images.pixels.push_back(static_cast<float>((i * 31 + j * 7) % 17) / 16);
    images.labels.push_back(static_cast<int>(i % class_count));
  }
  return images;
}

std::vector<float> gradient_of(Network* network, const Digits& images) {
  std::vector<float> gradient(network->weights().size());
  network->compute_gradient(images, gradient);
  return gradient;
}

TEST(Network, GradientIsTheSlopeOfTheLoss) {
  Network network({image_pixels, 12, 9, class_count}, 1);
  const Digits images = some_images(5);
  const std::vector<float> gradient = gradient_of(&network, images);
  std::vector<float> unused(gradient.size());
  constexpr float step = 1e-3F;
  for (std::size_t i = 0; i < gradient.size(); i += 7) {
    float& weight = network.weights()[i];
    const float start = weight;
    weight = start + step;
    const float above = network.compute_gradient(images, unused);
    weight = start - step;
    const float below = network.compute_gradient(images, unused);
    weight = start;
    EXPECT_NEAR((above - below) / (2 * step), gradient[i], 0.02 + 0.02 * std::abs(gradient[i])) << "weight " << i;
  }
}

TEST(Network, GradientsAddUpOverImages) {
  Network network({image_pixels, 8, class_count}, 1);
  const Digits all = some_images(6);
  Digits first, second;
  for (std::size_t i = 0; i < all.count(); ++i) (i < 2 ? first : second).append(all, i);
  const std::vector<float> whole = gradient_of(&network, all);
  const std::vector<float> one = gradient_of(&network, first), two = gradient_of(&network, second);
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(whole[i], one[i] + two[i], 1e-4);
}

TEST(Network, NoImagesGiveNoGradient) {
  Network network({image_pixels, 8, class_count}, 1);
  std::vector<float> gradient(network.weights().size(), 1.0F);
  EXPECT_EQ(0.0F, network.compute_gradient(Digits(), gradient));
  EXPECT_EQ(std::vector<float>(gradient.size()), gradient);
}

TEST(Network, SameSeedSameWeights) {
  Network one({image_pixels, 8, class_count}, 1), same({image_pixels, 8, class_count}, 1),
      other({image_pixels, 8, class_count}, 2);
  EXPECT_TRUE(std::equal(one.weights().begin(), one.weights().end(), same.weights().begin()));
  EXPECT_FALSE(std::equal(one.weights().begin(), one.weights().end(), other.weights().begin()));
}

TEST(Network, LearnsImagesByHeart) {
  Network network({image_pixels, 32, class_count}, 1);
  const Digits images = some_images(10);
  Adam adam(network.weights().size(), 0.01F);
  for (int step = 0; step < 200; ++step) adam.update(gradient_of(&network, images), 0.1F, network.weights());
  EXPECT_EQ(images.count(), network.count_correct(images));
}

TEST(Adam, FirstStepIsTheLearningRateAgainstTheSlope) {
  std::vector<float> weights = {1, 1, 1};
  Adam adam(weights.size(), 0.5F);
  adam.update(std::vector<float>{4, -4, 0}, 0.25F, weights);
  EXPECT_NEAR(0.5, weights[0], 1e-4);
  EXPECT_NEAR(1.5, weights[1], 1e-4);
  EXPECT_EQ(1.0F, weights[2]);
}

}  // namespace
}  // namespace example
