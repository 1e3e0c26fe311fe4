// SPDX-License-Identifier: BSD-3-Clause
// The serial reference that kernels, programs and trees are held against: one element at a time, written from the words
// of summation/tree.h and sharing no code with the library. And operands on which a wrong order or a wrong bit shows.
#ifndef HPS_TESTS_SUMMATION_REFERENCE_H
#define HPS_TESTS_SUMMATION_REFERENCE_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "plan/layout.h"
#include "util/types.h"

namespace hps::reference {

// One level of the canonical tree over `values`, with `join(left, right)` at every node.
template <class Value, class Join>
Value canonical(std::vector<Value> values, const Join& join) {
  const std::size_t pairs = values.size() - std::bit_floor(values.size());
  std::vector<Value> next;
  for (std::size_t i = 0; i < 2 * pairs; i += 2) next.push_back(join(values[i], values[i + 1]));
  next.insert(next.end(), values.begin() + static_cast<std::ptrdiff_t>(2 * pairs), values.end());
  while (next.size() > 1) {
    std::vector<Value> halved;
    for (std::size_t i = 0; i < next.size(); i += 2) halved.push_back(join(next[i], next[i + 1]));
    next = std::move(halved);
  }
  return next.front();
}

// The whole tree of a layout; values[member] is a member's contribution.
template <class Value, class Join>
Value tree(const Layout& layout, const std::vector<Value>& values, const Join& join) {
  std::vector<Value> nodes;
  for (const Layout::Node& node : layout.nodes) {
    std::vector<Value> switches;
    for (const Layout::Switch& under : node.switches) {
      std::vector<Value> members;
      for (std::uint32_t member : under.members) members.push_back(values[member]);
      switches.push_back(canonical(members, join));
    }
    nodes.push_back(canonical(switches, join));
  }
  return canonical(nodes, join);
}

// The lesser of two (the greater, with `sign` -1), by IEEE 754-2019's minimum and maximum.
template <class T>
T extreme(T left, T right, int sign) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(left) || std::isnan(right)) return std::numeric_limits<T>::quiet_NaN();
    if (left == 0 && right == 0) return std::signbit(left) == (sign > 0) ? left : right;
  }
  const bool left_is_less = left < right;
  return left_is_less == (sign > 0) ? left : right;
}

template <class T>
T apply(Op op, T left, T right) {
  switch (op) {
    case Op::min:
      return extreme(left, right, 1);
    case Op::max:
      return extreme(left, right, -1);
    case Op::sum:
      if constexpr (std::is_floating_point_v<T>) return left + right;
      return static_cast<T>(static_cast<std::uint64_t>(left) + static_cast<std::uint64_t>(right));
    case Op::prod:
      if constexpr (std::is_floating_point_v<T>) return left * right;
      return static_cast<T>(static_cast<std::uint64_t>(left) * static_cast<std::uint64_t>(right));
  }
  return T{};
}

// A NaN has the canonical bits.
template <class T>
T finished(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
  }
  return value;
}

// values[member][i] -> result[i]. Whole vectors go through the tree: one at a time, elements would cost an allocation
// at every node, which is minutes under AddressSanitizer.
template <class T>
std::vector<T> evaluate(const Layout& layout, Op op, const std::vector<std::vector<T>>& values) {
  const auto join = [op](std::vector<T> left, const std::vector<T>& right) {
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = apply(op, left[i], right[i]);
    return left;
  };
  std::vector<T> result = tree(layout, values, join);
  for (T& value : result) value = finished(value);
  return result;
}

inline Layout flat_layout(std::uint32_t members) {
  Layout layout;
  for (std::uint32_t i = 0; i < members; ++i) layout.nodes.push_back({{{{i}}}});
  return layout;
}

// sizes[node][switch] members, numbered round robin over the nodes as launchers do ("--map-by node"), so that members
// of a node are not neighbours.
inline Layout round_robin_layout(const std::vector<std::vector<std::uint32_t>>& sizes) {
  Layout layout;
  for (const auto& node : sizes) layout.nodes.push_back({std::vector<Layout::Switch>(node.size())});
  std::uint32_t next = 0;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t node = 0; node < sizes.size(); ++node) {
      for (std::size_t under = 0; under < sizes[node].size(); ++under) {
        std::vector<std::uint32_t>& members = layout.nodes[node].switches[under].members;
        if (members.size() == sizes[node][under]) continue;
        members.push_back(next++);
        more = true;
      }
    }
  }
  return layout;
}

using Random = std::mt19937_64;

// Floats whose exponents span 2^-20 to 2^20, so that the order of additions shows in the last bits, and products of 40
// stay finite more often than not; integers of all sizes.
template <class T>
T ordinary_value(Random& random) {
  if constexpr (std::is_floating_point_v<T>) {
    const T fraction = static_cast<T>(std::uniform_real_distribution<double>(1, 2)(random));
    const T magnitude = std::ldexp(fraction, static_cast<int>(random() % 41) - 20);
    return random() % 2 == 0 ? magnitude : -magnitude;
  } else {
    return static_cast<T>(random() >> (random() % 64));
  }
}

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const Bits quiet = std::bit_cast<Bits>(Limits::quiet_NaN());
    const T with_payload = std::bit_cast<T>(static_cast<Bits>(quiet | 0x12345));
    const T negative = std::bit_cast<T>(static_cast<Bits>(~(~quiet >> 1)));
    return {T{0},
            -T{0},
            T{1},
            T{-1},
            Limits::denorm_min(),
            -Limits::denorm_min(),
            Limits::min(),
            Limits::max(),
            -Limits::max(),
            Limits::infinity(),
            -Limits::infinity(),
            with_payload,
            negative};
  } else {
    return {T{0}, T{1}, static_cast<T>(-1), Limits::min(), Limits::max()};
  }
}

// One in eight is special.
template <class T>
T any_value(Random& random) {
  static const std::vector<T> special = special_values<T>();
  return random() % 8 == 0 ? special[random() % special.size()] : ordinary_value<T>(random);
}

// Elements at an address that is `misalignment` bytes off, with guard bytes on both sides.
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
  void set(std::size_t i, T value) { std::memcpy(bytes_.data() + offset_ + i * sizeof(T), &value, sizeof value); }

  // Whether all bytes outside the elements are as they were made.
  bool guards_intact() const {
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      const bool inside = i >= offset_ && i < offset_ + elements_ * sizeof(T);
      if (!inside && bytes_[i] != guard) return false;
    }
    return true;
  }
  // Elements are the same bits (NaNs and zeros too) as `expected`; else says where they are not.
  std::string difference(const std::vector<T>& expected) const {
    for (std::size_t i = 0; i < elements_; ++i) {
      const T value = get(i);
      if (std::memcmp(&value, &expected[i], sizeof value) == 0) continue;
      return "element " + std::to_string(i) + " is " + std::to_string(value) + ", not " + std::to_string(expected[i]);
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

inline constexpr Op all_ops[] = {
#define HPS_OP(name) Op::name,
#include "util/ops.def"
#undef HPS_OP
};

// Calls check.operator()<T>(type) for every datatype.
template <class Check>
void for_each_datatype(const Check& check) {
#define HPS_DATATYPE(name, ctype) check.template operator()<ctype>(Datatype::name);
#include "util/datatypes.def"
#undef HPS_DATATYPE
}

}  // namespace hps::reference

#endif
