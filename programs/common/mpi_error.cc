// SPDX-License-Identifier: BSD-3-Clause
#include "common/mpi_error.h"

#include <mpi.h>

#include <cstdio>

namespace hps {

void report_mpi_error(const char* program, const char* call, int error) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(error, text, &length) != MPI_SUCCESS) std::snprintf(text, sizeof text, "error %d", error);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "%s: rank %d: %s: %s\n", program, rank, call, text);
}

void abort_on_error(const char* program, const char* call, int error) {
  if (error == MPI_SUCCESS) return;
  report_mpi_error(program, call, error);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace hps
