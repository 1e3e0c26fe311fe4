// SPDX-License-Identifier: BSD-3-Clause
// MPI_Allreduce of whatever MPI library this is compiled against, measured for bench/compare:
//
//     peer_allreduce SECONDS BYTES:CALLS:WARMUP ...
//
// Errors end the job, as is MPI's default.
#include <mpi.h>

#include "peer_measure.h"

static void sum(const float* send, float* receive, size_t count) {
  MPI_Allreduce(send, receive, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void longest(double* times, size_t count) {
  MPI_Allreduce(MPI_IN_PLACE, times, (int)count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  struct Peer peer = {0, 0, sum, longest};
  MPI_Comm_rank(MPI_COMM_WORLD, &peer.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &peer.ranks);
  const int status = peer_measure_all(&peer, argc - 1, argv + 1);
  MPI_Finalize();
  return status;
}
