// SPDX-License-Identifier: BSD-3-Clause
// The checks of what a user passes.
#ifndef HPS_SRC_API_ARGUMENTS_H
#define HPS_SRC_API_ARGUMENTS_H

#include <mpi.h>

#include "coll/allreduce_hetero/allreduce_hetero.h"
#include "util/status.h"

namespace hps::api {

// What the user of HPS_Allreduce_hetero passed, but for the communicator.
struct AllreduceCall {
  const void* sendbuf;
  void* recvbuf;
  int count;
  MPI_Datatype datatype;
  MPI_Op op;
};

// The arguments of the call, checked; on a CPU-only rank buffers must be NULL. Errors: as hps.h lists them.
Status to_arguments(const AllreduceCall& call, bool cpu_only, allreduce_hetero::Arguments* arguments);

}  // namespace hps::api

#endif
