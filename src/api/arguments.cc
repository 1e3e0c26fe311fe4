// SPDX-License-Identifier: BSD-3-Clause
#include "api/arguments.h"

#include <cstdint>
#include <functional>
#include <string>

#include "api/handles.h"

namespace hps::api {
namespace {

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

Status to_arguments(const AllreduceCall& call, bool cpu_only, allreduce_hetero::Arguments* arguments) {
  allreduce_hetero::Arguments result;
  if (call.count < 0)
    return {Code::invalid_count, "count is " + std::to_string(call.count) + "; 0 or more would be right"};
  Reduction reduction = {};
  HPS_RETURN_IF_ERROR(to_reduction(call.datatype, call.op, &reduction));
  result.datatype = reduction.datatype;
  result.op = reduction.op;
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
