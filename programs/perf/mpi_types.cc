// SPDX-License-Identifier: BSD-3-Clause
#include "perf/mpi_types.h"

#include <cstdint>

namespace hps::perf {
namespace {

// Overloads, so that datatypes.def stays the one list: a type added there does not compile until it has its line here.
MPI_Datatype handle(float) { return MPI_FLOAT; }
MPI_Datatype handle(double) { return MPI_DOUBLE; }
MPI_Datatype handle(std::int8_t) { return MPI_INT8_T; }
MPI_Datatype handle(std::int16_t) { return MPI_INT16_T; }
MPI_Datatype handle(std::int32_t) { return MPI_INT32_T; }
MPI_Datatype handle(std::int64_t) { return MPI_INT64_T; }
MPI_Datatype handle(std::uint8_t) { return MPI_UINT8_T; }
MPI_Datatype handle(std::uint16_t) { return MPI_UINT16_T; }
MPI_Datatype handle(std::uint32_t) { return MPI_UINT32_T; }
MPI_Datatype handle(std::uint64_t) { return MPI_UINT64_T; }

}  // namespace

MPI_Datatype mpi_datatype(Datatype datatype) {
  switch (datatype) {
#define HPS_DATATYPE(name, ctype) \
  case Datatype::name:            \
    return handle(ctype{});
#include "util/datatypes.def"
#undef HPS_DATATYPE
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op mpi_op(Op op) {
  switch (op) {
    case Op::sum:
      return MPI_SUM;
    case Op::prod:
      return MPI_PROD;
    case Op::min:
      return MPI_MIN;
    case Op::max:
      return MPI_MAX;
  }
  return MPI_OP_NULL;
}

}  // namespace hps::perf
