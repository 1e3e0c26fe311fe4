// SPDX-License-Identifier: BSD-3-Clause
#include "chaos/reductions.h"

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

template <class T>
ByteVector values(std::uint64_t seed, std::uint64_t count) {
  reference::Random random(seed);
  std::vector<T> result(count);
  for (T& value : result) value = reference::any_value<T>(random);
  return to_bytes(result);
}

template <class T>
ByteVector expected(const Layout& layout, Op op, const std::vector<ByteVector>& contributions) {
  std::vector<std::vector<T>> values;
  for (const ByteVector& bytes : contributions) {
    values.emplace_back(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(static_cast<void*>(values.back().data()), bytes.data(), bytes.size());
  }
  return to_bytes(reference::evaluate<T>(layout, op, values));
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
