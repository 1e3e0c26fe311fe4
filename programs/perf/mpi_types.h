// SPDX-License-Identifier: BSD-3-Clause
// MPI's handles for the types and operations that can be measured.
#ifndef HPS_PROGRAMS_PERF_MPI_TYPES_H
#define HPS_PROGRAMS_PERF_MPI_TYPES_H

#include <mpi.h>

#include "util/types.h"

namespace hps::perf {

MPI_Datatype mpi_datatype(Datatype datatype);
MPI_Op mpi_op(Op op);

}  // namespace hps::perf

#endif
