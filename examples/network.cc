// SPDX-License-Identifier: BSD-3-Clause
//
// Nearly all the time goes into three matrix products a layer, done by a BLAS; the rest is written for clarity. A step
// over b images costs about 6 * b * weights floating-point operations.
#include "network.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace example {
namespace {

// c[rows][columns] = a * b + beta * c, row after row; a and b are as they lie in memory, or transposed.
struct Matrix {
  const float* data;
  CBLAS_TRANSPOSE transposed;
};

void multiply(std::size_t rows, std::size_t columns, std::size_t inner, Matrix a, Matrix b, float beta, float* c) {
  const auto m = static_cast<int>(rows), n = static_cast<int>(columns), k = static_cast<int>(inner);
  const int a_stride = a.transposed == CblasTrans ? m : k;
  const int b_stride = b.transposed == CblasTrans ? k : n;
  cblas_sgemm(CblasRowMajor, a.transposed, b.transposed, m, n, k, 1.0F, a.data, a_stride, b.data, b_stride, beta, c, n);
}

// Turns the scores of one image into the gradient of its loss, probabilities less one at the right digit; returns the
// loss.
float differentiate_loss(std::span<float> scores, int label) {
  const float largest = *std::max_element(scores.begin(), scores.end());
  float total = 0;
  for (float& score : scores) total += score = std::exp(score - largest);
  for (float& score : scores) score /= total;
  float& right = scores[static_cast<std::size_t>(label)];
  const float loss = -std::log(std::max(right, 1e-30F));
  right -= 1;
  return loss;
}

}  // namespace

Network::Network(const std::vector<std::size_t>& widths, std::uint32_t seed) : activations_(widths.size()) {
  std::size_t place = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    layers_.push_back({widths[i], widths[i + 1], place, place + widths[i] * widths[i + 1]});
    place = layers_.back().bias + widths[i + 1];
  }
  weights_.assign(place, 0.0F);
  std::mt19937 random(seed);
  for (const Layer& layer : layers_) {  // Uniform, of variance 2 / inputs (He et al., ICCV 2015); biases start at 0.
    const float limit = std::sqrt(6.0F / static_cast<float>(layer.inputs));
    for (std::size_t i = layer.matrix; i < layer.bias; ++i)
      weights_[i] = limit * (static_cast<float>(random() >> 8) * 0x1p-23F - 1.0F);
  }
}

void Network::run_forward(const Digits& images) {
  const std::size_t count = images.count();
  activations_[0] = images.pixels;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    std::vector<float>& out = activations_[i + 1];
    out.resize(count * layer.outputs);
    const float* bias = weights_.data() + layer.bias;
    for (std::size_t row = 0; row < count; ++row) std::copy_n(bias, layer.outputs, out.data() + row * layer.outputs);
    multiply(count, layer.outputs, layer.inputs, {activations_[i].data(), CblasNoTrans},
             {weights_.data() + layer.matrix, CblasTrans}, 1, out.data());
    if (i + 1 < layers_.size())
      for (float& value : out) value = std::max(value, 0.0F);
  }
}

float Network::compute_gradient(const Digits& images, std::span<float> gradient) {
  std::fill(gradient.begin(), gradient.end(), 0.0F);
  const std::size_t count = images.count();
  if (count == 0) return 0;
  run_forward(images);
  std::vector<float> delta = activations_.back();  // The gradient with respect to what a layer puts out.
  float loss = 0;
  for (std::size_t row = 0; row < count; ++row)
    loss += differentiate_loss(std::span(delta).subspan(row * class_count, class_count), images.labels[row]);

  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = layers_[i];
    const std::vector<float>& in = activations_[i];
    multiply(layer.outputs, layer.inputs, count, {delta.data(), CblasTrans}, {in.data(), CblasNoTrans}, 0,
             gradient.data() + layer.matrix);
    for (std::size_t j = 0; j < delta.size(); ++j) gradient[layer.bias + j % layer.outputs] += delta[j];
    if (i == 0) break;
    std::vector<float> below(count * layer.inputs);
    multiply(count, layer.inputs, layer.outputs, {delta.data(), CblasNoTrans},
             {weights_.data() + layer.matrix, CblasNoTrans}, 0, below.data());
    for (std::size_t j = 0; j < below.size(); ++j)
      if (in[j] <= 0) below[j] = 0;
    delta = std::move(below);
  }
  return loss;
}

std::size_t Network::count_correct(const Digits& images) {
  run_forward(images);
  std::size_t correct = 0;
  for (std::size_t row = 0; row < images.count(); ++row) {
    const float* scores = activations_.back().data() + row * class_count;
    correct += std::max_element(scores, scores + class_count) - scores == images.labels[row];
  }
  return correct;
}

Adam::Adam(std::size_t weight_count, float learning_rate)
    : learning_rate_(learning_rate), mean_(weight_count), square_(weight_count) {}

void Adam::update(std::span<const float> gradient, float scale, std::span<float> weights) {
  constexpr float mean_decay = 0.9F, square_decay = 0.999F, tiny = 1e-8F;
  ++steps_;
  const auto steps = static_cast<float>(steps_);
  const float rate = learning_rate_ * std::sqrt(1 - std::pow(square_decay, steps)) / (1 - std::pow(mean_decay, steps));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float slope = gradient[i] * scale;
    mean_[i] = mean_decay * mean_[i] + (1 - mean_decay) * slope;
    square_[i] = square_decay * square_[i] + (1 - square_decay) * slope * slope;
    weights[i] -= rate * mean_[i] / (std::sqrt(square_[i]) + tiny);
  }
}

}  // namespace example
