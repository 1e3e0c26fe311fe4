// SPDX-License-Identifier: BSD-3-Clause
// What kernels, programs and trees are tested with: buffers, and what the serial reference says of their contents.
#ifndef HPS_TESTS_SUMMATION_REFERENCE_H
#define HPS_TESTS_SUMMATION_REFERENCE_H

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "reference/elements.h"
#include "reference/tree.h"

namespace hps::reference {

// Elements at an address that is `misalignment` bytes off, with guard bytes on both sides. Gaps in elements hold what
// guards do.
template <class T>
class Buffer {
 public:
  Buffer(std::size_t elements, std::size_t misalignment)
      : bytes_(guard_bytes + misalignment + elements * sizeof(T) + guard_bytes, guard),
        offset_(guard_bytes + misalignment),
        elements_(elements) {}

  void* data() { return bytes_.data() + offset_; }
  T get(std::size_t i) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset_ + i * sizeof(T), sizeof value);
    return value;
  }
  void set(std::size_t i, const T& value) {
    const Bytes<T> bytes = bytes_of<T>(value, guard);
    std::memcpy(bytes_.data() + offset_ + i * sizeof(T), bytes.data(), bytes.size());
  }

  // Whether all bytes outside the elements are as they were made.
  bool guards_intact() const {
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      const bool inside = i >= offset_ && i < offset_ + elements_ * sizeof(T);
      if (!inside && bytes_[i] != guard) return false;
    }
    return true;
  }
  // Elements are the same bits (NaNs and zeros too) as `expected`, gaps are zeros; else says where they are not.
  std::string difference(const std::vector<T>& expected) const {
    for (std::size_t i = 0; i < elements_; ++i) {
      const Bytes<T> right = bytes_of<T>(expected[i]);
      if (std::memcmp(bytes_.data() + offset_ + i * sizeof(T), right.data(), right.size()) == 0) continue;
      return "element " + std::to_string(i) + " is " + text_of<T>(get(i)) + ", not " + text_of<T>(expected[i]);
    }
    return "";
  }

 private:
  static constexpr std::size_t guard_bytes = 64;
  static constexpr std::byte guard{0xa5};
  std::vector<std::byte> bytes_;
  std::size_t offset_;
  std::size_t elements_;
};

// Random contributions and room for the result, all misaligned differently (by 0 bytes with `aligned`).
template <class T>
struct Case {
  enum class Place { aligned, misaligned };

  Case(std::uint32_t members, std::size_t elements_, Place place, Random& random)
      : elements(elements_), output(elements_, place == Place::aligned ? 0 : 3) {
    for (std::uint32_t member = 0; member < members; ++member) {
      inputs.emplace_back(elements, place == Place::aligned ? 0 : 1 + member % 7);
      for (std::size_t i = 0; i < elements; ++i) inputs.back().set(i, any_value<T>(random));
    }
  }

  std::vector<const void*> pointers() {
    std::vector<const void*> result;
    for (Buffer<T>& input : inputs) result.push_back(input.data());
    return result;
  }
  std::vector<T> expected(const Layout& layout, Op op) const {
    std::vector<std::vector<T>> values(inputs.size(), std::vector<T>(elements));
    for (std::size_t member = 0; member < inputs.size(); ++member) {
      for (std::size_t i = 0; i < elements; ++i) values[member][i] = inputs[member].get(i);
    }
    return evaluate(layout, op, values);
  }

  std::size_t elements;
  std::vector<Buffer<T>> inputs;
  Buffer<T> output;
};

}  // namespace hps::reference

#endif
