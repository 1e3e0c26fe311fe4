// SPDX-License-Identifier: BSD-3-Clause
//
// Reads, shuffles and shares out the digits. The shuffle is written out here because std::shuffle may differ from one
// C++ library to another, while std::mt19937 is the same everywhere.
#include "digits.h"

#include <fstream>
#include <random>
#include <sstream>
#include <utility>

namespace example {
namespace {

constexpr int darkest = 16;  // A pixel counts the black dots in 4 x 4 of the scanned image.

// Reads "p0,p1,...,p63,label" into *digits; false if the line is anything else.
bool read_image(const std::string& line, Digits* digits) {
  std::istringstream fields(line);
  for (int i = 0; i <= image_pixels; ++i) {
    const int largest = i < image_pixels ? darkest : class_count - 1;
    int value = -1;
    if (!(fields >> value) || value < 0 || value > largest) return false;
    if (i < image_pixels && fields.get() != ',') return false;
    if (i < image_pixels)
      digits->pixels.push_back(static_cast<float>(value) / darkest);
    else
      digits->labels.push_back(value);
  }
  return fields.peek() == std::istringstream::traits_type::eof();
}

}  // namespace

void Digits::append(const Digits& from, std::size_t index) {
  const auto first = from.pixels.begin() + static_cast<std::ptrdiff_t>(index * image_pixels);
  pixels.insert(pixels.end(), first, first + image_pixels);
  labels.push_back(from.labels[index]);
}

std::string read_digits(const std::string& path, Digits* digits) {
  std::ifstream file(path);
  if (!file) return "cannot open '" + path + "'";
  Digits read;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (read_image(line, &read)) continue;
    return path + ":" + std::to_string(number) + ": not 64 pixels of 0 to 16 and a digit, with commas between";
  }
  if (file.bad()) return "cannot read '" + path + "'";
  if (read.count() == 0) return "'" + path + "' is empty";
  *digits = std::move(read);
  return "";
}

std::vector<std::size_t> shuffled(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

void split_digits(const Digits& all, std::size_t test_count, std::uint32_t seed, Digits* train, Digits* test) {
  const std::vector<std::size_t> order = shuffled(all.count(), seed);
  *train = *test = Digits();
  for (std::size_t i = 0; i < order.size(); ++i) (i < test_count ? test : train)->append(all, order[i]);
}

Batches::Batches(const Digits& digits, std::size_t batch_size, std::uint32_t seed)
    : digits_(digits), batch_size_(batch_size), seed_(seed) {}

Digits Batches::shard(std::size_t step, std::size_t part, std::size_t parts) const {
  const std::size_t batches_in_epoch = digits_.count() / batch_size_;
  const std::size_t epoch = step / batches_in_epoch;
  const std::size_t start = step % batches_in_epoch * batch_size_;
  const std::vector<std::size_t> order = shuffled(digits_.count(), seed_ + static_cast<std::uint32_t>(epoch));
  Digits images;
  for (std::size_t i = batch_size_ * part / parts; i < batch_size_ * (part + 1) / parts; ++i)
    images.append(digits_, order[start + i]);
  return images;
}

}  // namespace example
