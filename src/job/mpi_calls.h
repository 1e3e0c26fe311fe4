// SPDX-License-Identifier: BSD-3-Clause
// What src/job needs of MPI again and again: errors as Status, and collective calls that let others go on meanwhile.
#ifndef HPS_SRC_JOB_MPI_CALLS_H
#define HPS_SRC_JOB_MPI_CALLS_H

#include <mpi.h>

#include <cstddef>
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

// Between two looks at MPI: what comes soon is found soon, and what comes late is waited for asleep.
class Pause {
 public:
  void rest();

 private:
  int rests_ = 0;
};

// The world ranks of comm's ranks; MPI_UNDEFINED for a rank that MPI_COMM_WORLD does not have.
Status world_ranks(MPI_Comm comm, std::vector<int>* ranks);

// An error of this rank, with its name before the sentence; ok as it is.
Status with_own_rank(const Status& status);

// The error of the first rank of comm that has one, the same on all ranks; ok where none has. Collective over comm.
Status agree(MPI_Comm comm, const Status& own, const Waiter& waiter);

// Waits for all ranks of comm.
Status barrier(MPI_Comm comm, const Waiter& waiter);

// The bytes that `root` has, on every rank. Collective over comm.
Status broadcast_bytes(MPI_Comm comm, int root, const Waiter& waiter, std::vector<std::byte>* bytes);

}  // namespace hps

#endif
