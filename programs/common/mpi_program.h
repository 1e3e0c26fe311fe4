// SPDX-License-Identifier: BSD-3-Clause
// The programs as ranks of a job. They run with MPI_ERRORS_RETURN, so that the sentence that HPS gives for an error is
// shown once and in full.
#ifndef HPS_PROGRAMS_COMMON_MPI_PROGRAM_H
#define HPS_PROGRAMS_COMMON_MPI_PROGRAM_H

#include <mpi.h>

#include <functional>

namespace hps {

// What is left of main once the command line is answered: starts the program anew under a passive wait policy where it
// has to (common/wait_policy.h), then runs `body` between MPI_Init_thread and MPI_Finalize. Returns the exit code: that
// of `body`, or 1 where MPI does not start.
int run_mpi_program(int argc, char** argv, int thread_level, const std::function<int()>& body);

// Writes "<program>: rank <r>: <call>: <what MPI_Error_string says>" to standard error.
void report_mpi_error(const char* call, int error);

// Returns where error is MPI_SUCCESS. Else reports it and ends the whole job with exit code 1: peers may be waiting in
// the call that failed here, so that nothing gentler is sure to end.
void must(const char* call, int error);

// Local, as MPI_Comm_rank and MPI_Comm_size are.
int rank_in(MPI_Comm comm);
int size_of(MPI_Comm comm);

}  // namespace hps

#endif
