// SPDX-License-Identifier: BSD-3-Clause
// idle SECONDS: what a rank costs that has nothing to do. Workers sleep for so long between HPS_Init and HPS_Finalize,
// CPU-only ranks wait in HPS_Serve; each rank tells what part of a core it used meanwhile, threads of the library
// included.
//
//   mpirun -n 2 -x HPS_NODE=a bench/idle 20 : -n 2 -x HPS_ROLE=cpu -x HPS_NODE=b bench/idle 20
#include <mpi.h>
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "hps.h"

namespace {

double process_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The groups exist and connections are open, as in a job that is under way.
void warm_up(MPI_Comm workers) {
  float value = 1;
  HPS_Comm_prepare(workers);
  HPS_Allreduce_hetero(MPI_IN_PLACE, &value, 1, MPI_FLOAT, MPI_SUM, workers);
}

void idle(MPI_Comm workers, double seconds) {
  if (workers == MPI_COMM_NULL)
    HPS_Serve();
  else
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

}  // namespace

int main(int argc, char** argv) {
  int thread_level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  const double seconds = argc == 2 ? std::atof(argv[1]) : 0;
  if (seconds <= 0) {
    std::fprintf(stderr, "usage: idle SECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm workers = MPI_COMM_NULL;
  HPS_Init(MPI_COMM_WORLD, MPI_INFO_NULL, &workers);
  if (workers != MPI_COMM_NULL) warm_up(workers);
  const double cpu_before = process_cpu_seconds();
  const double before = MPI_Wtime();
  idle(workers, seconds);
  const double cpu = process_cpu_seconds() - cpu_before;
  const double wall = MPI_Wtime() - before;
  std::printf("rank %d, %s: %.3f %% of a core over %.1f s\n", rank, workers == MPI_COMM_NULL ? "CPU-only" : "worker",
              100 * cpu / wall, wall);
  if (workers != MPI_COMM_NULL) MPI_Comm_free(&workers);
  HPS_Finalize();
  MPI_Finalize();
  return 0;
}
