// SPDX-License-Identifier: BSD-3-Clause
#include "perf/mpi_types.h"

#include <complex>
#include <cstdint>
#include <type_traits>

#include "hps.h"

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
MPI_Datatype handle(Float16) { return HPS_FLOAT16; }
MPI_Datatype handle(Bfloat16) { return HPS_BFLOAT16; }
MPI_Datatype handle(long double) { return MPI_LONG_DOUBLE; }
MPI_Datatype handle(std::complex<float>) { return MPI_C_FLOAT_COMPLEX; }
MPI_Datatype handle(std::complex<double>) { return MPI_C_DOUBLE_COMPLEX; }
MPI_Datatype handle(std::complex<long double>) { return MPI_C_LONG_DOUBLE_COMPLEX; }
MPI_Datatype handle(bool) { return MPI_C_BOOL; }
MPI_Datatype handle(std::byte) { return MPI_BYTE; }
MPI_Datatype handle(ValueIndex<float>) { return MPI_FLOAT_INT; }
MPI_Datatype handle(ValueIndex<double>) { return MPI_DOUBLE_INT; }
MPI_Datatype handle(ValueIndex<long>) { return MPI_LONG_INT; }
MPI_Datatype handle(ValueIndex<int>) { return MPI_2INT; }
MPI_Datatype handle(ValueIndex<short>) { return MPI_SHORT_INT; }
MPI_Datatype handle(ValueIndex<long double>) { return MPI_LONG_DOUBLE_INT; }

}  // namespace

MPI_Datatype mpi_datatype(Datatype datatype) {
  switch (datatype) {
#define HPS_DATATYPE(name, ctype, kind) \
  case Datatype::name:                  \
    return handle(std::type_identity_t<ctype>{});
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
    case Op::land:
      return MPI_LAND;
    case Op::lor:
      return MPI_LOR;
    case Op::lxor:
      return MPI_LXOR;
    case Op::band:
      return MPI_BAND;
    case Op::bor:
      return MPI_BOR;
    case Op::bxor:
      return MPI_BXOR;
    case Op::minloc:
      return MPI_MINLOC;
    case Op::maxloc:
      return MPI_MAXLOC;
  }
  return MPI_OP_NULL;
}

}  // namespace hps::perf
