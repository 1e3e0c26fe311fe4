// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/contribution.h"

#include <cmath>
#include <cstring>

#include "reference/tree.h"
#include "util/random.h"

namespace hps::fuzz {
namespace {

// Exponents that span 2^-10 to 2^10 (2^-3 to 2^3 in 16 bits).
template <class T>
T value(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t random = Random(seed ^ (index << 20)).next();
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random);
  } else {
    const double fraction = 1 + static_cast<double>(random & 0xffff) / 0x1p16;
    const int span = reference::is_half<T> ? 3 : 10;
    const int exponent = static_cast<int>((random >> 16) % (2 * static_cast<unsigned>(span) + 1)) - span;
    const double magnitude = std::ldexp(random >> 63 != 0 ? -fraction : fraction, exponent);
    if constexpr (reference::is_half<T>) return reference::to_half<T>(static_cast<float>(magnitude));
    if constexpr (!reference::is_half<T>) return static_cast<T>(magnitude);
  }
}

template <class T>
std::vector<T> values(std::uint64_t seed, const Slice& slice) {
  std::vector<T> result;
  result.reserve(slice.elements);
  for (std::uint64_t i = 0; i < slice.elements; ++i) result.push_back(value<T>(seed, slice.first + i));
  return result;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& elements) {
  std::vector<std::byte> bytes(elements.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

// Calls use.operator()<T>() for the element types that signature() chooses.
template <class Use>
auto with_type(Datatype type, const Use& use) {
  switch (type) {
    case Datatype::float64:
      return use.template operator()<double>();
    case Datatype::float16:
      return use.template operator()<Float16>();
    case Datatype::int32:
      return use.template operator()<std::int32_t>();
    case Datatype::uint8:
      return use.template operator()<std::uint8_t>();
    default:
      return use.template operator()<float>();
  }
}

}  // namespace

wire::Signature signature(std::uint32_t choice, std::uint64_t scale) {
  static constexpr wire::Signature all[signatures] = {
      {wire::Collective::allreduce_hetero, Datatype::float32, Op::sum, 32},
      {wire::Collective::allreduce_hetero, Datatype::float32, Op::sum, 100},
      {wire::Collective::allreduce_hetero, Datatype::int32, Op::sum, 500},
      {wire::Collective::allreduce_hetero, Datatype::float64, Op::max, 65},
      {wire::Collective::allreduce_hetero, Datatype::float16, Op::sum, 129},
      {wire::Collective::allreduce_hetero, Datatype::uint8, Op::bxor, 7},
      {wire::Collective::allreduce_hetero, Datatype::float32, Op::prod, 1},
      {wire::Collective::allreduce_hetero, Datatype::float64, Op::sum, 300},
      {wire::Collective::allreduce_hetero, Datatype::float32, Op::sum, 0},
      {wire::Collective::none, Datatype::float32, Op::sum, 64}};
  wire::Signature chosen = all[choice % signatures];
  chosen.count *= scale;
  return chosen;
}

std::vector<std::byte> contribution(const wire::Signature& signature, std::uint64_t seed, const Slice& slice) {
  return with_type(signature.datatype, [&]<class T>() { return bytes_of(values<T>(seed, slice)); });
}

std::vector<std::byte> expected_sum(const wire::Signature& signature, const Layout& layout,
                                    const std::vector<std::uint64_t>& seeds, const Slice& slice) {
  return with_type(signature.datatype, [&]<class T>() {
    std::vector<std::vector<T>> contributions;
    for (std::uint64_t seed : seeds) contributions.push_back(values<T>(seed, slice));
    return bytes_of(reference::evaluate<T>(layout, signature.op, contributions));
  });
}

}  // namespace hps::fuzz
