// SPDX-License-Identifier: BSD-3-Clause
// The serial reference of the all-reduce tests: what every worker contributes and what the result must be, bit for bit.
//
// Integers take all their bits and wrap. Floating-point contributions are chosen so that every order of operations
// gives the same result: small whole numbers for sums, powers of two for products. (tests/mpi/bitwise_test.cc is about
// the order.)
#ifndef HPS_TESTS_MPI_ORACLE_H
#define HPS_TESTS_MPI_ORACLE_H

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "harness.h"
#include "hps.h"
#include "reference/elements.h"
#include "util/random.h"

namespace hps::test {

inline MPI_Op mpi_op(Op op) {
  const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_LAND,   MPI_LOR,
                        MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
  static_assert(std::size(ops) == op_count);
  return ops[static_cast<std::size_t>(op)];
}

// A name by which MPI knows a datatype.
struct NamedType {
  MPI_Datatype mpi;
  const char* name;
  DatatypeKind kind;
  bool multi_language = false;  // no logical operations

  bool supports(Op op) const {
    if (multi_language && (op == Op::land || op == Op::lor || op == Op::lxor)) return false;
    for (std::size_t type = 0; type < datatype_count; ++type) {
      if (datatype_kind(static_cast<Datatype>(type)) == kind) return op_supports(op, static_cast<Datatype>(type));
    }
    return false;
  }
};

// Calls body.operator()<C++ type>(NamedType) for every datatype that HPS supports, by every name.
template <class Body>
void for_each_type(Body&& body) {
  using Kind = DatatypeKind;
#define HPS_TEST_TYPE(type, kind, datatype, ...) \
  body.template operator()<type>(NamedType{datatype, #datatype, kind __VA_OPT__(, ) __VA_ARGS__})
  HPS_TEST_TYPE(float, Kind::floating, MPI_FLOAT);
  HPS_TEST_TYPE(double, Kind::floating, MPI_DOUBLE);
  HPS_TEST_TYPE(long double, Kind::floating, MPI_LONG_DOUBLE);
  HPS_TEST_TYPE(Float16, Kind::floating, HPS_FLOAT16);
  HPS_TEST_TYPE(Bfloat16, Kind::floating, HPS_BFLOAT16);
  HPS_TEST_TYPE(std::complex<float>, Kind::complex, MPI_C_COMPLEX);
  HPS_TEST_TYPE(std::complex<float>, Kind::complex, MPI_C_FLOAT_COMPLEX);
  HPS_TEST_TYPE(std::complex<double>, Kind::complex, MPI_C_DOUBLE_COMPLEX);
  HPS_TEST_TYPE(std::complex<long double>, Kind::complex, MPI_C_LONG_DOUBLE_COMPLEX);
  HPS_TEST_TYPE(bool, Kind::logical, MPI_C_BOOL);
  HPS_TEST_TYPE(std::byte, Kind::raw, MPI_BYTE);
  HPS_TEST_TYPE(ValueIndex<float>, Kind::pair, MPI_FLOAT_INT);
  HPS_TEST_TYPE(ValueIndex<double>, Kind::pair, MPI_DOUBLE_INT);
  HPS_TEST_TYPE(ValueIndex<long>, Kind::pair, MPI_LONG_INT);
  HPS_TEST_TYPE(ValueIndex<int>, Kind::pair, MPI_2INT);
  HPS_TEST_TYPE(ValueIndex<short>, Kind::pair, MPI_SHORT_INT);
  HPS_TEST_TYPE(ValueIndex<long double>, Kind::pair, MPI_LONG_DOUBLE_INT);
  HPS_TEST_TYPE(signed char, Kind::integer, MPI_CHAR);
  HPS_TEST_TYPE(std::int8_t, Kind::integer, MPI_INT8_T);
  HPS_TEST_TYPE(std::int16_t, Kind::integer, MPI_INT16_T);
  HPS_TEST_TYPE(std::int32_t, Kind::integer, MPI_INT32_T);
  HPS_TEST_TYPE(std::int64_t, Kind::integer, MPI_INT64_T);
  HPS_TEST_TYPE(std::uint8_t, Kind::integer, MPI_UINT8_T);
  HPS_TEST_TYPE(std::uint16_t, Kind::integer, MPI_UINT16_T);
  HPS_TEST_TYPE(std::uint32_t, Kind::integer, MPI_UINT32_T);
  HPS_TEST_TYPE(std::uint64_t, Kind::integer, MPI_UINT64_T);
  HPS_TEST_TYPE(signed char, Kind::integer, MPI_SIGNED_CHAR);
  HPS_TEST_TYPE(unsigned char, Kind::integer, MPI_UNSIGNED_CHAR);
  HPS_TEST_TYPE(short, Kind::integer, MPI_SHORT);
  HPS_TEST_TYPE(unsigned short, Kind::integer, MPI_UNSIGNED_SHORT);
  HPS_TEST_TYPE(int, Kind::integer, MPI_INT);
  HPS_TEST_TYPE(unsigned, Kind::integer, MPI_UNSIGNED);
  HPS_TEST_TYPE(long, Kind::integer, MPI_LONG);
  HPS_TEST_TYPE(unsigned long, Kind::integer, MPI_UNSIGNED_LONG);
  HPS_TEST_TYPE(long long, Kind::integer, MPI_LONG_LONG);
  HPS_TEST_TYPE(long long, Kind::integer, MPI_LONG_LONG_INT);
  HPS_TEST_TYPE(unsigned long long, Kind::integer, MPI_UNSIGNED_LONG_LONG);
  HPS_TEST_TYPE(MPI_Aint, Kind::integer, MPI_AINT, true);
  HPS_TEST_TYPE(MPI_Offset, Kind::integer, MPI_OFFSET, true);
  HPS_TEST_TYPE(MPI_Count, Kind::integer, MPI_COUNT, true);
#undef HPS_TEST_TYPE
}

// Sums of 8 of them have 8 bits, which a bfloat16 can hold.
template <class Float>
Float exact_float(Op op, std::uint64_t bits) {
  if (op != Op::prod) return static_cast<Float>(static_cast<int>(bits % 61) - 30);
  const float magnitudes[] = {0.5f, 1, 1, 2};
  return static_cast<Float>((bits >> 8 & 1) != 0 ? -magnitudes[bits % 4] : magnitudes[bits % 4]);
}

template <class T>
T contribution(Op op, std::uint64_t seed, int member, std::size_t i) {
  const std::uint64_t bits = mix_bits(seed * 1000003 + static_cast<std::uint64_t>(member) * 10007 + i);
  if constexpr (reference::is_half<T>) {
    return reference::to_half<T>(exact_float<float>(op, bits));
  } else if constexpr (std::is_floating_point_v<T>) {
    return exact_float<T>(op, bits);
  } else if constexpr (reference::is_complex<T>) {
    using Part = typename T::value_type;
    return {exact_float<Part>(op, bits), exact_float<Part>(op, bits >> 16)};
  } else if constexpr (reference::is_pair<T>) {  // few values, so that many are equal
    return {static_cast<typename T::Value>(static_cast<int>(bits % 5) - 2), static_cast<int>(bits >> 16)};
  } else if constexpr (std::is_same_v<T, bool>) {
    return bits % 8 != 0;
  } else {
    return is_logical(op) && bits % 8 == 0 ? T{0} : static_cast<T>(bits >> 8);
  }
}

struct Case {
  Op op = Op::sum;
  int count = 0;
  bool in_place = false;
  std::size_t offset = 0;  // of the buffers, from an aligned address
  std::uint64_t seed = 0;  // tells this call's data from another's
};

template <class T>
std::vector<T> contributions(const Case& call, int member) {
  std::vector<T> values(static_cast<std::size_t>(call.count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = contribution<T>(call.op, call.seed, member, i);
  return values;
}

template <class T>
std::vector<T> expected(const Case& call, int members) {
  std::vector<reference::Partial<T>> partial;
  for (const auto& value : contributions<T>(call, 0)) partial.push_back(reference::to_partial<T>(value));
  for (int member = 1; member < members; ++member) {
    for (std::size_t i = 0; i < partial.size(); ++i) {
      const T other = contribution<T>(call.op, call.seed, member, i);
      partial[i] = reference::apply<reference::Partial<T>>(call.op, partial[i], reference::to_partial<T>(other));
    }
  }
  if (members == 1) return contributions<T>(call, 0);  // copied
  std::vector<T> result;
  for (const auto& value : partial) result.push_back(reference::finished<T>(value));
  return result;
}

// The elements as they are passed, with something in their gaps.
template <class T>
std::vector<std::byte> in_memory(const std::vector<T>& values) {
  std::vector<std::byte> memory;
  for (const auto& value : values) {
    const auto bytes = reference::bytes_of<T>(value, std::byte{0xc3});
    memory.insert(memory.end(), bytes.begin(), bytes.end());
  }
  return memory;
}

// The bytes of a result that count: not those of gaps, and of products of complex numbers not the sign of a zero, which
// depends on the order.
template <class T>
reference::Bytes<T> comparable(T value, [[maybe_unused]] Op op) {
  if constexpr (reference::is_complex<T>) {
    if (op == Op::prod) value = {value.real() + 0, value.imag() + 0};
  }
  return reference::bytes_of<T>(value);
}

// Where a result first differs from what it should be, in words; else "".
template <class T>
std::string first_difference(const void* result, const std::vector<T>& right, Op op) {
  const auto* bytes = static_cast<const std::byte*>(result);
  for (std::size_t i = 0; i < right.size(); ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
    if (comparable<T>(value, op) == comparable<T>(right[i], op)) continue;
    return "element " + std::to_string(i) + " is " + reference::text_of<T>(value) + " instead of " +
           reference::text_of<T>(right[i]);
  }
  return "";
}

// One call on `comm`, of whose ranks the first `members` are workers; this is worker `member`.
template <class T>
void check_call(MPI_Comm comm, int member, int members, MPI_Datatype datatype, const std::string& type,
                const Case& call) {
  const Where where(type + " " + op_name(call.op) + " count " + std::to_string(call.count) +
                    (call.in_place ? " in place" : "") + " at offset " + std::to_string(call.offset));
  const std::size_t bytes = static_cast<std::size_t>(call.count) * sizeof(T);
  const std::vector<std::byte> own = in_memory(contributions<T>(call, member));
  GuardedBuffer send(call.in_place ? 0 : bytes, call.offset);
  GuardedBuffer receive(bytes, call.offset + (call.in_place ? 0 : 2));
  (call.in_place ? receive : send).fill_from(own);
  HPS_EXPECT_OK(HPS_Allreduce_hetero(call.in_place ? MPI_IN_PLACE : send.data(), receive.data(), call.count, datatype,
                                     mpi_op(call.op), comm));
  const std::string difference = first_difference(receive.data(), expected<T>(call, members), call.op);
  HPS_EXPECT(difference.empty(), difference);
  HPS_EXPECT(receive.guards_intact(), "recvbuf's guards were written to");
  HPS_EXPECT(send.guards_intact(), "sendbuf's guards were written to");
  HPS_EXPECT(call.in_place || send.holds(own.data()), "sendbuf was changed");
}

// The same on a communicator of workers alone.
template <class T>
void check_allreduce(MPI_Comm comm, MPI_Datatype datatype, const std::string& type, const Case& call) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  check_call<T>(comm, rank, size, datatype, type, call);
}

}  // namespace hps::test

#endif
