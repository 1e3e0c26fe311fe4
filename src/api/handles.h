// SPDX-License-Identifier: BSD-3-Clause
// From MPI's handles to HPS's types and operations; and HPS's own handles.
#ifndef HPS_SRC_API_HANDLES_H
#define HPS_SRC_API_HANDLES_H

#include <mpi.h>

#include "util/status.h"
#include "util/types.h"

namespace hps::api {

struct Reduction {
  Datatype datatype;
  Op op;
};

// Errors: null handles; what is not supported yet (derived datatypes, Fortran's, user-defined operations); an operation
// that MPI does not define on the datatype.
Status to_reduction(MPI_Datatype datatype, MPI_Op op, Reduction* reduction);

// The handle of a 16-bit float, made when it is first asked for and freed in MPI_Finalize. Thread-safe.
Status handle_of(Datatype datatype, MPI_Datatype* handle);

}  // namespace hps::api

#endif
