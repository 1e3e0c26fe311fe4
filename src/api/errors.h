// SPDX-License-Identifier: BSD-3-Clause
// How a Status becomes an MPI error: the one place where the C boundary catches and reports.
#ifndef HPS_SRC_API_ERRORS_H
#define HPS_SRC_API_ERRORS_H

#include <mpi.h>

#include <exception>
#include <new>

#include "util/status.h"

namespace hps::api {

// MPI is between MPI_Init and MPI_Finalize.
bool mpi_is_usable() noexcept;

// Reports an error through comm's error handler (MPI_COMM_WORLD's for MPI_COMM_NULL) and returns its code. Where MPI is
// not usable, logs it and returns the class.
int report(const Status& status, MPI_Comm comm) noexcept;

// Runs the body of an API function. Nothing is thrown on purpose inside HPS; what the C++ library throws becomes an
// error like any other.
template <class Body>
int guard(MPI_Comm comm, Body&& body) noexcept {
  Status status;
  try {
    status = body();
  } catch (const std::bad_alloc&) {
    status = {Code::no_memory, {}};
  } catch (const std::exception& error) {
    status = {Code::internal, error.what()};
  }
  return status.ok() ? MPI_SUCCESS : report(status, comm);
}

}  // namespace hps::api

#endif
