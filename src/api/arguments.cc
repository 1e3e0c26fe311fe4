// SPDX-License-Identifier: BSD-3-Clause
#include "api/arguments.h"

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>

namespace hps::api {
namespace {

// The fixed-width type that a C integer type is on this machine.
template <class Integer>
constexpr Datatype fixed_width() {
  constexpr bool is_signed = std::is_signed_v<Integer>;
  switch (sizeof(Integer)) {
    case 1:
      return is_signed ? Datatype::int8 : Datatype::uint8;
    case 2:
      return is_signed ? Datatype::int16 : Datatype::uint16;
    case 4:
      return is_signed ? Datatype::int32 : Datatype::uint32;
    default:
      return is_signed ? Datatype::int64 : Datatype::uint64;
  }
}

struct TypePair {
  MPI_Datatype mpi;
  Datatype type;
};

struct OpPair {
  MPI_Op mpi;
  Op op;
};

std::string name_of(MPI_Datatype type) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  MPI_Type_get_name(type, name, &length);
  return length > 0 ? name : "a derived datatype";
}

bool overlap(const std::byte* a, const std::byte* b, std::uint64_t bytes) {
  const std::less<> before;
  return before(a, b + bytes) && before(b, a + bytes);
}

Status check_worker_buffers(const AllreduceCall& call, std::uint64_t bytes) {
  if (call.recvbuf == MPI_IN_PLACE) return {Code::invalid_buffer, "recvbuf is MPI_IN_PLACE; only sendbuf may be"};
  if (bytes == 0) return {};
  if (call.recvbuf == nullptr)
    return {Code::invalid_buffer, "recvbuf is NULL and count is " + std::to_string(call.count)};
  if (call.sendbuf == MPI_IN_PLACE) return {};
  if (call.sendbuf == nullptr)
    return {Code::invalid_buffer, "sendbuf is NULL and count is " + std::to_string(call.count)};
  if (!overlap(static_cast<const std::byte*>(call.sendbuf), static_cast<const std::byte*>(call.recvbuf), bytes))
    return {};
  return {Code::invalid_buffer, "sendbuf and recvbuf overlap; MPI_IN_PLACE as sendbuf takes the input from recvbuf"};
}

}  // namespace

Status to_datatype(MPI_Datatype given, Datatype* type) {
  if (given == MPI_DATATYPE_NULL) return {Code::invalid_type, "MPI_DATATYPE_NULL was given"};
  // Not static: in some MPI libraries handles are not constants.
  const TypePair pairs[] = {
      {MPI_FLOAT, Datatype::float32},
      {MPI_DOUBLE, Datatype::float64},
      {MPI_INT8_T, Datatype::int8},
      {MPI_INT16_T, Datatype::int16},
      {MPI_INT32_T, Datatype::int32},
      {MPI_INT64_T, Datatype::int64},
      {MPI_UINT8_T, Datatype::uint8},
      {MPI_UINT16_T, Datatype::uint16},
      {MPI_UINT32_T, Datatype::uint32},
      {MPI_UINT64_T, Datatype::uint64},
      {MPI_SIGNED_CHAR, fixed_width<signed char>()},
      {MPI_UNSIGNED_CHAR, fixed_width<unsigned char>()},
      {MPI_SHORT, fixed_width<short>()},
      {MPI_UNSIGNED_SHORT, fixed_width<unsigned short>()},
      {MPI_INT, fixed_width<int>()},
      {MPI_UNSIGNED, fixed_width<unsigned>()},
      {MPI_LONG, fixed_width<long>()},
      {MPI_UNSIGNED_LONG, fixed_width<unsigned long>()},
      {MPI_LONG_LONG, fixed_width<long long>()},
      {MPI_UNSIGNED_LONG_LONG, fixed_width<unsigned long long>()},
  };
  for (const TypePair& pair : pairs) {
    if (pair.mpi != given) continue;
    *type = pair.type;
    return {};
  }
  return {Code::unsupported,
          "datatype " + name_of(given) + "; float, double and integers of 8 to 64 bits are supported"};
}

Status to_op(MPI_Op given, Op* op) {
  if (given == MPI_OP_NULL) return {Code::invalid_op, "MPI_OP_NULL was given"};
  const OpPair pairs[] = {{MPI_SUM, Op::sum}, {MPI_PROD, Op::prod}, {MPI_MIN, Op::min}, {MPI_MAX, Op::max}};
  for (const OpPair& pair : pairs) {
    if (pair.mpi != given) continue;
    *op = pair.op;
    return {};
  }
  return {Code::unsupported, "this operation; MPI_SUM, MPI_PROD, MPI_MIN and MPI_MAX are supported"};
}

Status to_arguments(const AllreduceCall& call, bool cpu_only, allreduce_hetero::Arguments* arguments) {
  allreduce_hetero::Arguments result;
  if (call.count < 0)
    return {Code::invalid_count, "count is " + std::to_string(call.count) + "; 0 or more would be right"};
  HPS_RETURN_IF_ERROR(to_datatype(call.datatype, &result.datatype));
  HPS_RETURN_IF_ERROR(to_op(call.op, &result.op));
  result.count = static_cast<std::uint64_t>(call.count);
  if (cpu_only) {
    if (call.sendbuf != nullptr || call.recvbuf != nullptr)
      return {Code::invalid_buffer,
              "a CPU-only rank passed a buffer, whose data would be dropped; NULL would be right, or the role worker"};
  } else {
    HPS_RETURN_IF_ERROR(check_worker_buffers(call, result.bytes()));
    result.receive = static_cast<std::byte*>(call.recvbuf);
    result.send = call.sendbuf == MPI_IN_PLACE ? result.receive : static_cast<const std::byte*>(call.sendbuf);
  }
  *arguments = result;
  return {};
}

}  // namespace hps::api
