// SPDX-License-Identifier: BSD-3-Clause
// What src/job needs of MPI again and again: errors as Status, and collective calls that let others go on meanwhile.
#ifndef HPS_SRC_JOB_MPI_CALLS_H
#define HPS_SRC_JOB_MPI_CALLS_H

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "util/status.h"

namespace hps {

// The error of an MPI call that HPS made; ok where `code` is MPI_SUCCESS.
Status mpi_status(const char* what, int code);

// Waits for a request: Runtime::wait_request, or wait_alone where there is no runtime.
using Waiter = std::function<Status(MPI_Request*)>;
// Waits without a runtime, and without burning a core.
Status wait_alone(MPI_Request* request);
// As wait_alone; calls `warn` once where it takes as long as `seconds` (0: never).
Waiter wait_alone_and_warn(std::uint32_t seconds, std::function<void()> warn);

// The error of the first rank of comm that has one, the same on all ranks; ok where none has. Collective over comm.
Status agree(MPI_Comm comm, const Status& own, const Waiter& waiter);

// Waits for all ranks of comm.
Status barrier(MPI_Comm comm, const Waiter& waiter);

// The bytes that `root` has, on every rank. Collective over comm.
Status broadcast_bytes(MPI_Comm comm, int root, const Waiter& waiter, std::vector<std::byte>* bytes);

}  // namespace hps

#endif
