// SPDX-License-Identifier: BSD-3-Clause
// The serial reference of the all-reduce tests: what every worker contributes and what the result must be, bit for bit.
//
// Integers take all their bits and wrap. Floating-point contributions are chosen so that every order of operations
// gives the same result: small whole numbers for sums, powers of two for products.
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

namespace hps::test {

enum class TestOp { sum, prod, min, max };
inline constexpr TestOp all_ops[] = {TestOp::sum, TestOp::prod, TestOp::min, TestOp::max};

inline MPI_Op mpi_op(TestOp op) {
  const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
  return ops[static_cast<int>(op)];
}

inline const char* op_name(TestOp op) {
  constexpr const char* names[] = {"MPI_SUM", "MPI_PROD", "MPI_MIN", "MPI_MAX"};
  return names[static_cast<int>(op)];
}

// Calls body.operator()<C type>(datatype, its name) for every datatype that HPS supports, by every name.
template <class Body>
void for_each_type(Body&& body) {
#define HPS_TEST_TYPE(type, datatype) body.template operator()<type>(datatype, #datatype)
  HPS_TEST_TYPE(float, MPI_FLOAT);
  HPS_TEST_TYPE(double, MPI_DOUBLE);
  HPS_TEST_TYPE(std::int8_t, MPI_INT8_T);
  HPS_TEST_TYPE(std::int16_t, MPI_INT16_T);
  HPS_TEST_TYPE(std::int32_t, MPI_INT32_T);
  HPS_TEST_TYPE(std::int64_t, MPI_INT64_T);
  HPS_TEST_TYPE(std::uint8_t, MPI_UINT8_T);
  HPS_TEST_TYPE(std::uint16_t, MPI_UINT16_T);
  HPS_TEST_TYPE(std::uint32_t, MPI_UINT32_T);
  HPS_TEST_TYPE(std::uint64_t, MPI_UINT64_T);
  HPS_TEST_TYPE(signed char, MPI_SIGNED_CHAR);
  HPS_TEST_TYPE(unsigned char, MPI_UNSIGNED_CHAR);
  HPS_TEST_TYPE(short, MPI_SHORT);
  HPS_TEST_TYPE(unsigned short, MPI_UNSIGNED_SHORT);
  HPS_TEST_TYPE(int, MPI_INT);
  HPS_TEST_TYPE(unsigned, MPI_UNSIGNED);
  HPS_TEST_TYPE(long, MPI_LONG);
  HPS_TEST_TYPE(unsigned long, MPI_UNSIGNED_LONG);
  HPS_TEST_TYPE(long long, MPI_LONG_LONG);
  HPS_TEST_TYPE(long long, MPI_LONG_LONG_INT);
  HPS_TEST_TYPE(unsigned long long, MPI_UNSIGNED_LONG_LONG);
#undef HPS_TEST_TYPE
}

// splitmix64: well-mixed bits from any number.
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

template <class T>
T contribution(TestOp op, std::uint64_t seed, int member, std::size_t i) {
  const std::uint64_t bits = mix(seed * 1000003 + static_cast<std::uint64_t>(member) * 10007 + i);
  if constexpr (std::is_floating_point_v<T>) {
    if (op != TestOp::prod) return static_cast<T>(static_cast<std::int64_t>(bits % 4001) - 2000);
    const T magnitudes[] = {T(0.5), T(1), T(1), T(2)};
    return (bits >> 8 & 1) != 0 ? -magnitudes[bits % 4] : magnitudes[bits % 4];
  } else {
    return static_cast<T>(bits);
  }
}

// Sums and products are taken in 64 bits without sign, whose low bits are those of any narrower type that wraps.
template <class T>
T combine_serially(TestOp op, T left, T right) {
  if (op == TestOp::min) return std::min(left, right);
  if (op == TestOp::max) return std::max(left, right);
  if constexpr (std::is_floating_point_v<T>) {
    return op == TestOp::sum ? left + right : left * right;
  } else {
    // The sign is extended, as it should be for a sum modulo 2^64.
    const auto a = static_cast<std::uint64_t>(left);   // NOLINT(bugprone-signed-char-misuse)
    const auto b = static_cast<std::uint64_t>(right);  // NOLINT(bugprone-signed-char-misuse)
    return static_cast<T>(op == TestOp::sum ? a + b : a * b);
  }
}

struct Case {
  TestOp op = TestOp::sum;
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
  std::vector<T> result = contributions<T>(call, 0);
  for (int member = 1; member < members; ++member) {
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] = combine_serially(call.op, result[i], contribution<T>(call.op, call.seed, member, i));
  }
  return result;
}

// Where a result first differs from what it should be, in words.
template <class T>
std::string first_difference(const void* result, const std::vector<T>& right) {
  const auto* bytes = static_cast<const std::byte*>(result);
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (std::memcmp(bytes + i * sizeof(T), &right[i], sizeof(T)) == 0) continue;
    T value;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
    return "element " + std::to_string(i) + " is " + std::to_string(value) + " instead of " + std::to_string(right[i]);
  }
  return "no difference";
}

// One call on `comm`, of whose ranks the first `members` are workers; this is worker `member`.
template <class T>
void check_call(MPI_Comm comm, int member, int members, MPI_Datatype datatype, const std::string& type,
                const Case& call) {
  const Where where(type + " " + op_name(call.op) + " count " + std::to_string(call.count) +
                    (call.in_place ? " in place" : "") + " at offset " + std::to_string(call.offset));
  const std::size_t bytes = static_cast<std::size_t>(call.count) * sizeof(T);
  const std::vector<T> own = contributions<T>(call, member);
  GuardedBuffer send(call.in_place ? 0 : bytes, call.offset);
  GuardedBuffer receive(bytes, call.offset + (call.in_place ? 0 : 2));
  (call.in_place ? receive : send).fill_from(own);
  HPS_EXPECT_OK(HPS_Allreduce_hetero(call.in_place ? MPI_IN_PLACE : send.data(), receive.data(), call.count, datatype,
                                     mpi_op(call.op), comm));
  const std::vector<T> right = expected<T>(call, members);
  HPS_EXPECT(receive.holds(right.data()), first_difference(receive.data(), right));
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
