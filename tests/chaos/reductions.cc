// SPDX-License-Identifier: BSD-3-Clause
#include "chaos/reductions.h"

#include <algorithm>
#include <cstring>

#include "reference/tree.h"

namespace hps::chaos {
namespace {

template <class T>
ByteVector to_bytes(const std::vector<T>& values) {
  ByteVector bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Contributions go round in this many values, from a start of their own, and so do results: values and reference are
// computed for one round, which is what lets thousands of runs pass in seconds. Chunks are multiples of 64 bytes, so
// that a prime tells a chunk from one in another place.
constexpr std::size_t round_length = 1021;

template <class T>
const std::vector<T>& round_of_values() {
  static const std::vector<T> all = [] {
    reference::Random random(round_length);
    std::vector<T> values(round_length);
    for (T& value : values) value = reference::any_value<T>(random);
    return values;
  }();
  return all;
}

template <class T>
ByteVector values(std::uint64_t seed, std::uint64_t count) {
  const std::vector<T>& round = round_of_values<T>();
  std::vector<T> result(count);
  for (std::uint64_t i = 0, at = seed % round_length; i < count; ++i) {
    result[i] = round[at];
    if (++at == round_length) at = 0;
  }
  return to_bytes(result);
}

template <class T>
ByteVector expected(const Layout& layout, Op op, const std::vector<ByteVector>& contributions) {
  const std::size_t bytes = contributions.front().size();
  std::vector<std::vector<T>> first_round;
  for (const ByteVector& contribution : contributions) {
    first_round.emplace_back(std::min(bytes / sizeof(T), round_length));
    if (bytes != 0)
      std::memcpy(static_cast<void*>(first_round.back().data()), contribution.data(),
                  first_round.back().size() * sizeof(T));
  }
  ByteVector result = to_bytes(reference::evaluate<T>(layout, op, first_round));
  const std::size_t round_bytes = result.size();
  result.resize(bytes);
  for (std::size_t i = round_bytes; i < bytes; ++i) result[i] = result[i - round_bytes];
  return result;
}

template <class T>
Reduction reduction(Datatype datatype, Op op) {
  return {datatype, op, values<T>, expected<T>};
}

}  // namespace

const std::vector<Reduction>& reductions() {
  static const std::vector<Reduction> all = {
      reduction<float>(Datatype::float32, Op::sum),
      reduction<float>(Datatype::float32, Op::max),
      reduction<double>(Datatype::float64, Op::sum),
      reduction<double>(Datatype::float64, Op::min),
      reduction<std::int8_t>(Datatype::int8, Op::sum),
      reduction<std::int32_t>(Datatype::int32, Op::prod),
      reduction<std::uint64_t>(Datatype::uint64, Op::bxor),
      reduction<Float16>(Datatype::float16, Op::sum),
      reduction<Bfloat16>(Datatype::bfloat16, Op::sum),
      reduction<std::complex<float>>(Datatype::complex64, Op::sum),
      reduction<std::byte>(Datatype::byte, Op::bor),
      reduction<ValueIndex<int>>(Datatype::int_int, Op::minloc),
  };
  return all;
}

}  // namespace hps::chaos
