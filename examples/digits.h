// SPDX-License-Identifier: BSD-3-Clause
//
// The UCI handwritten digits: 1,797 images of 8 x 8 pixels with their labels (data/README.md tells where they come
// from).
#ifndef EXAMPLES_DIGITS_H
#define EXAMPLES_DIGITS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace example {

constexpr int image_pixels = 64;
constexpr int class_count = 10;

// Images and their labels: image i is pixels[i * image_pixels ...], 0 (white) to 1 (black), and shows the digit
// labels[i].
struct Digits {
  std::vector<float> pixels;
  std::vector<int> labels;

  [[nodiscard]] std::size_t count() const { return labels.size(); }
  void append(const Digits& from, std::size_t index);
};

// Reads data/digits.csv. Returns an empty string, or what is wrong with the file; *digits is set only on success.
[[nodiscard]] std::string read_digits(const std::string& path, Digits* digits);

// The numbers 0 .. count - 1 in an order that follows from the seed alone, with every compiler and library.
[[nodiscard]] std::vector<std::size_t> shuffled(std::size_t count, std::uint32_t seed);

// Splits the images for good into some to learn from and test_count to judge by.
void split_digits(const Digits& all, std::size_t test_count, std::uint32_t seed, Digits* train, Digits* test);

// What every rank learns from in one step, a global batch, follows from the step's number alone, so that no rank has to
// tell another: epoch after epoch, each in an order of its own, cut into batches.
class Batches {
 public:
  Batches(const Digits& digits, std::size_t batch_size, std::uint32_t seed);

  // The part of step's global batch that one of `parts` workers takes: parts differ by one image at most.
  [[nodiscard]] Digits shard(std::size_t step, std::size_t part, std::size_t parts) const;

 private:
  const Digits& digits_;
  std::size_t batch_size_;
  std::uint32_t seed_;
};

}  // namespace example

#endif  // EXAMPLES_DIGITS_H
