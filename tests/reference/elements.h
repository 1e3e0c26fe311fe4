// SPDX-License-Identifier: BSD-3-Clause
// What operations do to single elements of every datatype, written from the words of src/summation/kernels.h and
// sharing no code with the library; and values on which a wrong order or a wrong bit shows. The mode must be rounding
// to nearest.
#ifndef HPS_TESTS_REFERENCE_ELEMENTS_H
#define HPS_TESTS_REFERENCE_ELEMENTS_H

#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "util/types.h"

namespace hps::reference {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;
template <class T>
inline constexpr bool is_complex = false;
template <class F>
inline constexpr bool is_complex<std::complex<F>> = true;
template <class T>
inline constexpr bool is_pair = false;
template <class V>
inline constexpr bool is_pair<ValueIndex<V>> = true;

// --- 16-bit floats
// ----------------------------------------------------------------------------------------------------

// 1 sign bit, `exponent_bits`, `fraction_bits`.
template <class Half>
struct HalfFormat {
  static constexpr int fraction_bits = std::is_same_v<Half, Float16> ? 10 : 7;
  static constexpr int exponent_bits = 15 - fraction_bits;
  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  static constexpr int special = (1 << exponent_bits) - 1;  // the exponent of infinities and NaNs
  static constexpr int least_exponent = 1 - bias;
};

template <class Half>
float to_float(Half half) {
  using Format = HalfFormat<Half>;
  const int exponent = half.bits >> Format::fraction_bits & Format::special;
  const int fraction = half.bits & ((1 << Format::fraction_bits) - 1);
  float magnitude = std::numeric_limits<float>::infinity();
  if (exponent == Format::special && fraction != 0) magnitude = std::numeric_limits<float>::quiet_NaN();
  if (exponent != Format::special) {
    const int whole = exponent == 0 ? fraction : fraction + (1 << Format::fraction_bits);
    const int scale = exponent == 0 ? Format::least_exponent : exponent - Format::bias;
    magnitude = std::ldexp(static_cast<float>(whole), scale - Format::fraction_bits);
  }
  return half.bits >> 15 != 0 ? -magnitude : magnitude;
}

// To nearest, ties to even.
template <class Half>
Half to_half(float value) {
  using Format = HalfFormat<Half>;
  const auto with_sign = [value](int bits) {
    return Half{static_cast<std::uint16_t>(bits | (std::signbit(value) ? 0x8000 : 0))};
  };
  const int infinity = Format::special << Format::fraction_bits;
  if (std::isnan(value)) return Half{static_cast<std::uint16_t>(infinity | 1 << (Format::fraction_bits - 1))};
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude == 0) return with_sign(0);
  if (std::isinf(magnitude)) return with_sign(infinity);
  const int exponent = std::max(std::ilogb(magnitude), Format::least_exponent);
  // In units of the last place: 2^fraction_bits and more, unless denormal.
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, Format::fraction_bits - exponent)));
  const int bits = ((exponent - Format::least_exponent) << Format::fraction_bits) + units;
  return with_sign(std::min(bits, infinity));
}

// --- Operations
// -------------------------------------------------------------------------------------------------------

// What intermediate values are.
template <class T>
using Partial = std::conditional_t<is_half<T>, float, T>;

template <class T>
Partial<T> to_partial(T value) {
  if constexpr (is_half<T>) return to_float(value);
  if constexpr (!is_half<T>) return value;
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

template <class Integer>
Integer low_bits(std::uint64_t value) {
  return static_cast<Integer>(value);
}

template <class Integer>
Integer apply_to_integers(Op op, Integer left, Integer right) {
  const auto a = static_cast<std::uint64_t>(left);   // NOLINT(bugprone-signed-char-misuse): the sign is to be extended
  const auto b = static_cast<std::uint64_t>(right);  // NOLINT(bugprone-signed-char-misuse)
  switch (op) {
    case Op::sum:
      return low_bits<Integer>(a + b);
    case Op::prod:
      return low_bits<Integer>(a * b);
    case Op::land:
      return static_cast<Integer>(left != 0 && right != 0);
    case Op::lor:
      return static_cast<Integer>(left != 0 || right != 0);
    case Op::lxor:
      return static_cast<Integer>((left != 0) != (right != 0));
    case Op::band:
      return static_cast<Integer>(a & b);
    case Op::bor:
      return static_cast<Integer>(a | b);
    case Op::bxor:
      return static_cast<Integer>(a ^ b);
    default:
      return extreme(left, right, op == Op::min ? 1 : -1);
  }
}

template <class Float>
Float apply_to_floats(Op op, Float left, Float right) {
  if (op == Op::sum) return left + right;
  if (op == Op::prod) return left * right;
  return extreme(left, right, op == Op::min ? 1 : -1);
}

template <class Pair>
bool comes_first(Op op, const Pair& left, const Pair& right) {
  if constexpr (std::is_floating_point_v<typename Pair::Value>) {
    if (std::isnan(left.value) && std::isnan(right.value)) return left.index <= right.index;
    if (std::isnan(left.value) || std::isnan(right.value)) return std::isnan(left.value);
  }
  if (left.value == right.value) return left.index <= right.index;
  return (left.value < right.value) == (op == Op::minloc);
}

template <class T>
T apply(Op op, T left, T right) {
  if constexpr (is_pair<T>) {
    return comes_first(op, left, right) ? left : right;
  } else if constexpr (is_complex<T>) {
    if (op == Op::sum) return {left.real() + right.real(), left.imag() + right.imag()};
    return {left.real() * right.real() - left.imag() * right.imag(),
            left.real() * right.imag() + left.imag() * right.real()};
  } else if constexpr (std::is_floating_point_v<T>) {
    return apply_to_floats(op, left, right);
  } else if constexpr (std::is_same_v<T, std::byte>) {
    return std::byte{apply_to_integers(op, std::to_integer<std::uint8_t>(left), std::to_integer<std::uint8_t>(right))};
  } else {
    return apply_to_integers(op, left, right);
  }
}

template <class Float>
Float canonical_nan(Float value) {
  return std::isnan(value) ? std::numeric_limits<Float>::quiet_NaN() : value;
}

// The element that a value of the tree becomes.
template <class T>
T finished(Partial<T> value) {
  if constexpr (is_half<T>) {
    return to_half<T>(value);
  } else if constexpr (is_complex<T>) {
    return {canonical_nan(value.real()), canonical_nan(value.imag())};
  } else if constexpr (std::is_floating_point_v<T>) {
    return canonical_nan(value);
  } else if constexpr (is_pair<T>) {
    if constexpr (std::is_floating_point_v<typename T::Value>)
      return {value.value == 0 ? 0 : canonical_nan(value.value), value.index};
    return value;
  } else {
    return value;
  }
}

// --- Bytes
// ------------------------------------------------------------------------------------------------------------

template <class T>
using Bytes = std::array<std::byte, sizeof(T)>;

// How an element lies in memory, with `gap` in the bytes that do not count.
template <class T>
Bytes<T> bytes_of(const T& value, std::byte gap = std::byte{0}) {
  Bytes<T> bytes;
  bytes.fill(gap);
  if constexpr (is_pair<T>) {
    const auto inner = bytes_of(value.value, gap);
    std::memcpy(bytes.data() + offsetof(T, value), inner.data(), inner.size());
    std::memcpy(bytes.data() + offsetof(T, index), &value.index, sizeof value.index);
  } else if constexpr (is_complex<T>) {
    const auto real = bytes_of(value.real(), gap);
    const auto imaginary = bytes_of(value.imag(), gap);
    std::memcpy(bytes.data(), real.data(), real.size());
    std::memcpy(bytes.data() + real.size(), imaginary.data(), imaginary.size());
  } else {
    const bool x87 = std::is_same_v<T, long double> && std::numeric_limits<T>::digits == 64;
    std::memcpy(bytes.data(), &value, x87 ? 10 : sizeof value);
  }
  return bytes;
}

template <class T>
std::string text_of(const T& value) {
  std::ostringstream text;
  if constexpr (is_half<T>) {
    text << to_float(value) << " (0x" << std::hex << value.bits << ')';
  } else if constexpr (is_pair<T>) {
    text << '(' << text_of(value.value) << ", " << value.index << ')';
  } else if constexpr (std::is_same_v<T, std::byte>) {
    text << std::to_integer<int>(value);
  } else if constexpr (is_complex<T>) {
    text << value;
  } else {
    text << +value;
  }
  return text.str();
}

// --- Values
// -----------------------------------------------------------------------------------------------------------

using Random = std::mt19937_64;

// Exponents that span 2^-20 to 2^20 (2^-6 to 2^6 in 16 bits), so that the order of additions shows in the last bits,
// and products of 40 stay finite more often than not; integers of all sizes.
template <class T>
T ordinary_value(Random& random) {
  if constexpr (is_half<T>) {
    const float fraction = std::uniform_real_distribution<float>(1, 2)(random);
    const float magnitude = std::ldexp(fraction, static_cast<int>(random() % 13) - 6);
    return to_half<T>(random() % 2 == 0 ? magnitude : -magnitude);
  } else if constexpr (std::is_floating_point_v<T>) {
    const T fraction = static_cast<T>(std::uniform_real_distribution<double>(1, 2)(random)) +
                       static_cast<T>(random()) * std::numeric_limits<T>::epsilon() / 0x1p64f;
    const T magnitude = std::ldexp(fraction, static_cast<int>(random() % 41) - 20);
    return random() % 2 == 0 ? magnitude : -magnitude;
  } else if constexpr (is_complex<T>) {
    const auto real = ordinary_value<typename T::value_type>(random);
    return {real, ordinary_value<typename T::value_type>(random)};
  } else if constexpr (is_pair<T>) {  // few values, so that many are equal
    return {static_cast<typename T::Value>(static_cast<int>(random() % 5) - 2), static_cast<int>(random())};
  } else if constexpr (std::is_same_v<T, bool>) {
    return random() % 4 != 0;
  } else {
    return static_cast<T>(random() >> (random() % 64));
  }
}

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  if constexpr (is_half<T>) {
    for (int bits : {0x0000, 0x0001, 0x007f, 0x0080, 0x03ff, 0x0400, 0x3c00, 0x3f80, 0x7bff, 0x7c00, 0x7d01, 0x7e01,
                     0x7f7f, 0x7f80, 0x7fc1, 0x7fff}) {
      values.push_back({static_cast<std::uint16_t>(bits)});
      values.push_back({static_cast<std::uint16_t>(bits | 0x8000)});
    }
  } else if constexpr (std::is_floating_point_v<T>) {
    values = {T{0}, T{1}, Limits::denorm_min(), Limits::min(), Limits::max(), Limits::infinity(), Limits::quiet_NaN()};
    if constexpr (sizeof(T) <= 8) {
      using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
      values.push_back(std::bit_cast<T>(std::bit_cast<Bits>(Limits::quiet_NaN()) | Bits{0x12345}));
    }
    for (std::size_t i = 0, count = values.size(); i < count; ++i) values.push_back(-values[i]);
  } else if constexpr (is_complex<T>) {
    const auto parts = special_values<typename T::value_type>();
    for (std::size_t i = 0; i < 3 * parts.size(); ++i)
      values.push_back({parts[i % parts.size()], parts[i * 7 / 3 % parts.size()]});
  } else if constexpr (is_pair<T>) {
    for (auto value : special_values<typename T::Value>()) {
      for (int index : {0, -1, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()})
        values.push_back({value, index});
    }
  } else if constexpr (std::is_same_v<T, std::byte>) {
    values = {std::byte{0}, std::byte{1}, std::byte{0x80}, std::byte{0xff}};
  } else if constexpr (std::is_same_v<T, bool>) {
    values = {false, true};
  } else {
    values = {T{0}, T{1}, static_cast<T>(-1), Limits::min(), Limits::max()};
  }
  return values;
}

// One in eight is special.
template <class T>
T any_value(Random& random) {
  static const std::vector<T> special = special_values<T>();
  return random() % 8 == 0 ? special[random() % special.size()] : ordinary_value<T>(random);
}

inline constexpr Op all_ops[] = {
#define HPS_OP(name) Op::name,
#include "util/ops.def"
#undef HPS_OP
};

// Calls check.operator()<T>(type) for every datatype.
template <class Check>
void for_each_datatype(const Check& check) {
#define HPS_DATATYPE(name, ctype, kind) check.template operator()<ctype>(Datatype::name);
#include "util/datatypes.def"
#undef HPS_DATATYPE
}

// Calls check.operator()<T>(type, op) for every datatype and every operation that MPI defines on it.
template <class Check>
void for_each_reduction(const Check& check) {
  for_each_datatype([&]<class T>(Datatype type) {
    for (Op op : all_ops) {
      if (op_supports(op, type)) check.template operator()<T>(type, op);
    }
  });
}

}  // namespace hps::reference

#endif
