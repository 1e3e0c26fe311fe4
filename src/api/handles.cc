// SPDX-License-Identifier: BSD-3-Clause
#include "api/handles.h"

#include <mutex>
#include <optional>
#include <string>
#include <type_traits>

#include "job/mpi_calls.h"

namespace hps::api {
namespace {

// The type of fixed width that a C integer type is on this machine.
template <class Integer>
constexpr Datatype fixed_width() {
  constexpr bool is_signed = std::is_signed_v<Integer>;
  switch (sizeof(Integer)) {
    case 1:
      return is_signed ? Datatype::int8 : Datatype::uint8;
    case 2:
      return is_signed ? Datatype::int16 : Datatype::uint16;
    case 4:
      return is_signed ? Datatype::int32 : Datatype::uint32;
    default:
      return is_signed ? Datatype::int64 : Datatype::uint64;
  }
}

// MPI's multi-language types are integers, but for the logical operations.
enum class Logical : bool { no, yes };

struct TypeEntry {
  MPI_Datatype mpi;
  Datatype type;
  Logical logical = Logical::yes;
};

struct OpEntry {
  MPI_Op mpi;
  Op op;
  const char* name;
};

// A 16-bit float. MPI has none, so the handles are HPS's own, null until somebody asks.
struct HalfType {
  Datatype type;
  const char* name;
  MPI_Datatype handle;
};

std::mutex half_mutex;  // of the handles
HalfType half_types[] = {{Datatype::float16, "HPS_FLOAT16", MPI_DATATYPE_NULL},
                         {Datatype::bfloat16, "HPS_BFLOAT16", MPI_DATATYPE_NULL}};

std::string name_of(MPI_Datatype type) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  MPI_Type_get_name(type, name, &length);
  return length > 0 ? name : "a derived datatype";
}

// Of MPI's own types. Not a static table, here and for operations: in some MPI libraries handles are not constants.
std::optional<TypeEntry> find_mpi_type(MPI_Datatype given) {
  const TypeEntry entries[] = {
      {MPI_FLOAT, Datatype::float32},
      {MPI_DOUBLE, Datatype::float64},
      {MPI_LONG_DOUBLE, Datatype::long_double},
      {MPI_INT8_T, Datatype::int8},
      {MPI_INT16_T, Datatype::int16},
      {MPI_INT32_T, Datatype::int32},
      {MPI_INT64_T, Datatype::int64},
      {MPI_UINT8_T, Datatype::uint8},
      {MPI_UINT16_T, Datatype::uint16},
      {MPI_UINT32_T, Datatype::uint32},
      {MPI_UINT64_T, Datatype::uint64},
      {MPI_CHAR, Datatype::int8},  // no number in MPI's rules, but one in MPI libraries
      {MPI_SIGNED_CHAR, fixed_width<signed char>()},
      {MPI_UNSIGNED_CHAR, fixed_width<unsigned char>()},
      {MPI_SHORT, fixed_width<short>()},
      {MPI_UNSIGNED_SHORT, fixed_width<unsigned short>()},
      {MPI_INT, fixed_width<int>()},
      {MPI_UNSIGNED, fixed_width<unsigned>()},
      {MPI_LONG, fixed_width<long>()},
      {MPI_UNSIGNED_LONG, fixed_width<unsigned long>()},
      {MPI_LONG_LONG, fixed_width<long long>()},
      {MPI_UNSIGNED_LONG_LONG, fixed_width<unsigned long long>()},
      {MPI_AINT, fixed_width<MPI_Aint>(), Logical::no},
      {MPI_OFFSET, fixed_width<MPI_Offset>(), Logical::no},
      {MPI_COUNT, fixed_width<MPI_Count>(), Logical::no},
      {MPI_C_BOOL, Datatype::boolean},
      {MPI_BYTE, Datatype::byte},
      {MPI_C_COMPLEX, Datatype::complex64},
      {MPI_C_FLOAT_COMPLEX, Datatype::complex64},
      {MPI_C_DOUBLE_COMPLEX, Datatype::complex128},
      {MPI_C_LONG_DOUBLE_COMPLEX, Datatype::complex_long_double},
      {MPI_FLOAT_INT, Datatype::float_int},
      {MPI_DOUBLE_INT, Datatype::double_int},
      {MPI_LONG_INT, Datatype::long_int},
      {MPI_2INT, Datatype::int_int},
      {MPI_SHORT_INT, Datatype::short_int},
      {MPI_LONG_DOUBLE_INT, Datatype::long_double_int},
  };
  for (const TypeEntry& entry : entries) {
    if (entry.mpi == given) return entry;
  }
  return std::nullopt;
}

std::optional<TypeEntry> find_half_type(MPI_Datatype given) {
  const std::lock_guard<std::mutex> guard(half_mutex);
  for (const HalfType& half : half_types) {
    if (half.handle == given) return TypeEntry{given, half.type};
  }
  return std::nullopt;
}

std::optional<TypeEntry> find_type(MPI_Datatype given) {
  const std::optional<TypeEntry> of_mpi = find_mpi_type(given);
  return of_mpi ? of_mpi : find_half_type(given);
}

std::optional<OpEntry> find_op(MPI_Op given) {
  const OpEntry entries[] = {
      {MPI_SUM, Op::sum, "MPI_SUM"},    {MPI_PROD, Op::prod, "MPI_PROD"},       {MPI_MIN, Op::min, "MPI_MIN"},
      {MPI_MAX, Op::max, "MPI_MAX"},    {MPI_LAND, Op::land, "MPI_LAND"},       {MPI_LOR, Op::lor, "MPI_LOR"},
      {MPI_LXOR, Op::lxor, "MPI_LXOR"}, {MPI_BAND, Op::band, "MPI_BAND"},       {MPI_BOR, Op::bor, "MPI_BOR"},
      {MPI_BXOR, Op::bxor, "MPI_BXOR"}, {MPI_MINLOC, Op::minloc, "MPI_MINLOC"}, {MPI_MAXLOC, Op::maxloc, "MPI_MAXLOC"},
  };
  for (const OpEntry& entry : entries) {
    if (entry.mpi == given) return entry;
  }
  return std::nullopt;
}

Status not_defined(const char* op, MPI_Datatype type) {
  return {Code::invalid_op, std::string(op) + " is not defined on " + name_of(type) + " (MPI-3.1, 5.9.2)"};
}

int free_half_types(MPI_Comm, int, void*, void*) noexcept {
  const std::lock_guard<std::mutex> guard(half_mutex);
  for (HalfType& half : half_types) {
    if (half.handle != MPI_DATATYPE_NULL) MPI_Type_free(&half.handle);
  }
  return MPI_SUCCESS;
}

// Attributes of MPI_COMM_SELF are deleted first in MPI_Finalize.
Status free_at_the_end() {
  static bool done = false;
  if (done) return {};
  int key = MPI_KEYVAL_INVALID;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_create_keyval",
                                 MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_half_types, &key, nullptr)));
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_set_attr", MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr)));
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_free_keyval", MPI_Comm_free_keyval(&key)));
  done = true;
  return {};
}

// 16 bits that MPI may send, but not reduce.
Status make_half_type(HalfType* half) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Type_contiguous", MPI_Type_contiguous(1, MPI_UINT16_T, &made)));
  Status status = mpi_status("MPI_Type_commit", MPI_Type_commit(&made));
  if (status.ok()) status = mpi_status("MPI_Type_set_name", MPI_Type_set_name(made, half->name));
  if (!status.ok()) {
    MPI_Type_free(&made);
    return status;
  }
  half->handle = made;
  return {};
}

}  // namespace

Status to_reduction(MPI_Datatype datatype, MPI_Op op, Reduction* reduction) {
  if (datatype == MPI_DATATYPE_NULL) return {Code::invalid_type, "MPI_DATATYPE_NULL was given"};
  if (op == MPI_OP_NULL) return {Code::invalid_op, "MPI_OP_NULL was given"};
  if (op == MPI_REPLACE || op == MPI_NO_OP)
    return {Code::invalid_op, "MPI_REPLACE and MPI_NO_OP are for one-sided communication, not for reductions"};
  const std::optional<OpEntry> known_op = find_op(op);
  if (!known_op) return {Code::unsupported, "operations made by MPI_Op_create; MPI's own are supported"};
  if (datatype == MPI_WCHAR || datatype == MPI_PACKED) return not_defined(known_op->name, datatype);
  const std::optional<TypeEntry> known_type = find_type(datatype);
  if (!known_type)
    return {Code::unsupported, "datatype " + name_of(datatype) + "; MPI's own datatypes for C are supported"};
  const bool defined =
      op_supports(known_op->op, known_type->type) && (known_type->logical == Logical::yes || !is_logical(known_op->op));
  if (!defined) return not_defined(known_op->name, datatype);
  *reduction = {known_type->type, known_op->op};
  return {};
}

Status handle_of(Datatype datatype, MPI_Datatype* handle) {
  const std::lock_guard<std::mutex> guard(half_mutex);
  for (HalfType& half : half_types) {
    if (half.type != datatype) continue;
    if (half.handle == MPI_DATATYPE_NULL) {
      HPS_RETURN_IF_ERROR(free_at_the_end());
      HPS_RETURN_IF_ERROR(make_half_type(&half));
    }
    *handle = half.handle;
  }
  return {};
}

}  // namespace hps::api
