// SPDX-License-Identifier: BSD-3-Clause
#include "common/mpi_program.h"

#include <cstdio>

#include "common/program_name.h"
#include "common/wait_policy.h"

namespace hps {

int run_mpi_program(int argc, char** argv, int thread_level, const std::function<int()>& body) {
  use_passive_wait_policy(argv);
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(&argc, &argv, thread_level, &provided) != MPI_SUCCESS) return 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int exit_code = body();
  MPI_Finalize();
  return exit_code;
}

void report_mpi_error(const char* call, int error) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(error, text, &length) != MPI_SUCCESS) std::snprintf(text, sizeof text, "error %d", error);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "%s: rank %d: %s: %s\n", program_name, rank, call, text);
}

void must(const char* call, int error) {
  if (error == MPI_SUCCESS) return;
  report_mpi_error(call, error);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  must("MPI_Comm_rank", MPI_Comm_rank(comm, &rank));
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  must("MPI_Comm_size", MPI_Comm_size(comm, &size));
  return size;
}

}  // namespace hps
