// SPDX-License-Identifier: BSD-3-Clause
// What the programs do when a call of MPI or HPS fails. They run with MPI_ERRORS_RETURN, so that the sentence that HPS
// gives for an error is shown once and in full.
#ifndef HPS_PROGRAMS_COMMON_MPI_ERROR_H
#define HPS_PROGRAMS_COMMON_MPI_ERROR_H

namespace hps {

// Writes "<program>: rank <r>: <call>: <what MPI_Error_string says>" to standard error. MPI must be initialised.
void report_mpi_error(const char* program, const char* call, int error);

// Returns where error is MPI_SUCCESS. Else reports it and ends the whole job with exit code 1: peers may be waiting in
// the call that failed here, so that nothing gentler is sure to end.
void abort_on_error(const char* program, const char* call, int error);

}  // namespace hps

#endif
