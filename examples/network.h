// SPDX-License-Identifier: BSD-3-Clause
//
// A small fully connected network that learns to name digits: ReLU between layers, softmax and cross-entropy at the
// end, and Adam (Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015) to update the weights.
#ifndef EXAMPLES_NETWORK_H
#define EXAMPLES_NETWORK_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "digits.h"

namespace example {

class Network {
 public:
  // Layers of the given widths, input first; the first weights follow from the seed alone.
  Network(const std::vector<std::size_t>& widths, std::uint32_t seed);

  // All weights and biases, one after the other.
  [[nodiscard]] std::span<float> weights() { return weights_; }

  // Sets gradient[weights().size()] to the sum over the images of the gradient of their loss; returns the sum of the
  // losses. The vector is contiguous so that one all-reduce adds it up over all workers. With no images both are 0.
  float compute_gradient(const Digits& images, std::span<float> gradient);

  // How many of the images the network names right.
  [[nodiscard]] std::size_t count_correct(const Digits& images);

 private:
  // What a layer multiplies its input by, [outputs][inputs], and then adds, [outputs]: places in a vector like
  // weights_.
  struct Layer {
    std::size_t inputs;
    std::size_t outputs;
    std::size_t matrix;
    std::size_t bias;
  };

  // Fills activations_: [0] is the images' pixels, [i + 1] what layer i makes of them, [images][outputs of layer i].
  void run_forward(const Digits& images);

  std::vector<Layer> layers_;
  std::vector<float> weights_;
  std::vector<std::vector<float>> activations_;
};

class Adam {
 public:
  Adam(std::size_t weight_count, float learning_rate);

  // One step against gradient[i] * scale, for all i.
  void update(std::span<const float> gradient, float scale, std::span<float> weights);

 private:
  float learning_rate_;
  int steps_ = 0;
  std::vector<float> mean_;
  std::vector<float> square_;
};

}  // namespace example

#endif  // EXAMPLES_NETWORK_H
