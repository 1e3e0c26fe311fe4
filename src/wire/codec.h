// SPDX-License-Identifier: BSD-3-Clause
// Writer and Reader: little-endian scalars and length-prefixed lists. A Reader never reads past its end: after the
// first failure it stays failed and gives zeros.
#ifndef HPS_SRC_WIRE_CODEC_H
#define HPS_SRC_WIRE_CODEC_H

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "util/types.h"

namespace hps::wire {

static_assert(std::endian::native == std::endian::little,
              "the wire format is little-endian; other hosts need byte swaps in codec.h");

template <class T>
concept Scalar = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Writer {
 public:
  template <Scalar T>
  void put(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  void put_count(std::size_t count) { put(static_cast<std::uint32_t>(count)); }
  void put_text(const std::string& text) {
    put_count(text.size());
    for (char c : text) put(c);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(ConstBytes bytes) : rest_(bytes) {}

  template <Scalar T>
  T get() {
    T value{};
    if (rest_.size() < sizeof value) {
      fail();
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  // The length of a list whose elements take at least `element_bytes` bytes each; 0 and failed where so many cannot
  // follow.
  std::size_t get_count(std::size_t element_bytes) {
    const auto count = get<std::uint32_t>();
    if (count <= rest_.size() / element_bytes) return count;
    fail();
    return 0;
  }
  std::string get_text() {
    std::string text(get_count(1), '\0');
    for (char& c : text) c = get<char>();
    return text;
  }
  ConstBytes rest() const { return rest_; }
  bool ok() const { return !failed_; }
  bool at_end() const { return ok() && rest_.empty(); }
  void fail() {
    failed_ = true;
    rest_ = {};
  }

 private:
  ConstBytes rest_;
  bool failed_ = false;
};

}  // namespace hps::wire

#endif
