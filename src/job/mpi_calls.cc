// SPDX-License-Identifier: BSD-3-Clause
#include "job/mpi_calls.h"

#include <cstdint>
#include <ctime>
#include <string>
#include <utility>

#include "wire/abort.h"

namespace hps {

Status mpi_status(const char* what, int code) {
  if (code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {Code::internal, std::string(what) + ": " + text};
}

namespace {

// `look` is called about every millisecond meanwhile.
Status wait_looking(MPI_Request* request, const std::function<void()>& look) {
  constexpr timespec pause = {0, 1'000'000};
  int complete = 0;
  while (true) {
    HPS_RETURN_IF_ERROR(mpi_status("waiting for the other ranks", MPI_Test(request, &complete, MPI_STATUS_IGNORE)));
    if (complete) return {};
    look();
    nanosleep(&pause, nullptr);  // MPI offers nothing to sleep on
  }
}

}  // namespace

Status wait_alone(MPI_Request* request) {
  return wait_looking(request, [] {});
}

Waiter wait_alone_and_warn(std::uint32_t seconds, std::function<void()> warn) {
  return [seconds, warn = std::move(warn)](MPI_Request* request) {
    const std::time_t end = std::time(nullptr) + static_cast<std::time_t>(seconds);
    bool is_due = seconds != 0;
    return wait_looking(request, [&] {
      if (!is_due || std::time(nullptr) < end) return;
      is_due = false;
      warn();
    });
  };
}

Status barrier(MPI_Comm comm, const Waiter& waiter) {
  MPI_Request request = MPI_REQUEST_NULL;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Ibarrier", MPI_Ibarrier(comm, &request)));
  return waiter(&request);
}

Status broadcast_bytes(MPI_Comm comm, int root, const Waiter& waiter, std::vector<std::byte>* bytes) {
  auto length = static_cast<std::uint64_t>(bytes->size());
  MPI_Request request = MPI_REQUEST_NULL;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Ibcast", MPI_Ibcast(&length, sizeof length, MPI_BYTE, root, comm, &request)));
  HPS_RETURN_IF_ERROR(waiter(&request));
  bytes->resize(length);
  HPS_RETURN_IF_ERROR(
      mpi_status("MPI_Ibcast", MPI_Ibcast(bytes->data(), static_cast<int>(length), MPI_BYTE, root, comm, &request)));
  return waiter(&request);
}

Status agree(MPI_Comm comm, const Status& own, const Waiter& waiter) {
  int rank = 0;
  int size = 0;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_rank", MPI_Comm_rank(comm, &rank)));
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_size", MPI_Comm_size(comm, &size)));
  const int mine = own.ok() ? size : rank;
  int first = size;
  MPI_Request request = MPI_REQUEST_NULL;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Iallreduce", MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm, &request)));
  HPS_RETURN_IF_ERROR(waiter(&request));
  if (first == size) return {};
  std::vector<std::byte> bytes;
  if (first == rank) bytes = wire::encode_abort({own.code(), "rank " + std::to_string(rank) + ": " + own.text(), rank});
  HPS_RETURN_IF_ERROR(broadcast_bytes(comm, first, waiter, &bytes));
  return wire::decode_abort(bytes);
}

}  // namespace hps
