// SPDX-License-Identifier: BSD-3-Clause
#include "job/mpi_calls.h"

#include <sched.h>

#include <cstdint>
#include <ctime>
#include <string>

#include "wire/abort.h"

namespace hps {

Status mpi_status(const char* what, int code) {
  if (code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {Code::internal, std::string(what) + ": " + text};
}

Status world_ranks(MPI_Comm comm, std::vector<int>* ranks) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  int size = 0;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_size", MPI_Comm_size(comm, &size)));
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_group", MPI_Comm_group(comm, &group)));
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_group", MPI_Comm_group(MPI_COMM_WORLD, &world)));
  std::vector<int> own(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) own[static_cast<std::size_t>(i)] = i;
  ranks->resize(own.size());
  const int code = MPI_Group_translate_ranks(group, size, own.data(), world, ranks->data());
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return mpi_status("MPI_Group_translate_ranks", code);
}

// MPI offers nothing to sleep on.
void Pause::rest() {
  constexpr int looks = 20;
  constexpr timespec pause = {0, 1'000'000};
  if (rests_ == looks) {
    nanosleep(&pause, nullptr);
    return;
  }
  ++rests_;
  sched_yield();
}

Status wait_alone(MPI_Request* request) {
  int complete = 0;
  for (Pause pause; true; pause.rest()) {
    HPS_RETURN_IF_ERROR(mpi_status("waiting for the other ranks", MPI_Test(request, &complete, MPI_STATUS_IGNORE)));
    if (complete) return {};
  }
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

Status with_own_rank(const Status& status) {
  if (status.ok()) return {};
  int self = 0;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_rank", MPI_Comm_rank(MPI_COMM_WORLD, &self)));
  return {status.code(), "rank " + std::to_string(self) + ": " + status.text(), self};
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
  if (first == rank) bytes = wire::encode_abort(with_own_rank(own));
  HPS_RETURN_IF_ERROR(broadcast_bytes(comm, first, waiter, &bytes));
  return wire::decode_abort(bytes);
}

}  // namespace hps
