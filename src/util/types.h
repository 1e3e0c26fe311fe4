// SPDX-License-Identifier: BSD-3-Clause
// The few types that every part of HPS shares: ranks, time, byte ranges, datatypes and operations.
#ifndef HPS_SRC_UTIL_TYPES_H
#define HPS_SRC_UTIL_TYPES_H

#include <cstddef>
#include <cstdint>
#include <span>

#include "util/element_types.h"

namespace hps {

// A rank in MPI_COMM_WORLD: how every process of the job is named inside HPS. A rank within a communicator is called a
// member index.
using Rank = std::int32_t;
inline constexpr Rank no_rank = -1;

enum class Role : std::uint8_t { worker, cpu_only };

// How a collective is carried out; automatic = by the message size.
enum class Algorithm : std::uint8_t {
  automatic,
#define HPS_ALGORITHM(collective, name, summed_by) name,
#include "coll/algorithms.def"
};

inline constexpr Algorithm all_algorithms[] = {
#define HPS_ALGORITHM(collective, name, summed_by) Algorithm::name,
#include "coll/algorithms.def"
};

// Who sums in an algorithm: the owners of chunks, so that CPU-only ranks take part, or the members among themselves.
enum class SummedBy : std::uint8_t { owners, members };
SummedBy summed_by(Algorithm algorithm) noexcept;

// As HPS_ALGORITHM spells it.
const char* algorithm_name(Algorithm algorithm) noexcept;

// Monotonic time in nanoseconds; the engine is told it and never reads a clock.
using TimeNs = std::int64_t;
inline constexpr TimeNs never_ns = INT64_MAX;

using ConstBytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

// What MPI's rules tell apart (MPI-3.1, 5.9.2): kinds of types have the same operations.
enum class DatatypeKind : std::uint8_t { integer, floating, complex, logical, raw, pair };

enum class Datatype : std::uint8_t {
#define HPS_DATATYPE(name, ctype, kind) name,
#include "util/datatypes.def"
#undef HPS_DATATYPE
};

enum class Op : std::uint8_t {
#define HPS_OP(name) name,
#include "util/ops.def"
#undef HPS_OP
};

inline constexpr std::uint8_t datatype_count = 0
#define HPS_DATATYPE(name, ctype, kind) +1
#include "util/datatypes.def"
#undef HPS_DATATYPE
    ;

inline constexpr std::uint8_t op_count = 0
#define HPS_OP(name) +1
#include "util/ops.def"
#undef HPS_OP
    ;

// Bytes of one element; `type` must be one of the enumerators.
constexpr std::size_t datatype_bytes(Datatype type) noexcept {
  constexpr std::size_t bytes[] = {
#define HPS_DATATYPE(name, ctype, kind) sizeof(ctype),
#include "util/datatypes.def"
#undef HPS_DATATYPE
  };
  return bytes[static_cast<std::size_t>(type)];
}

#define HPS_DATATYPE(name, ctype, kind) \
  static_assert((sizeof(ctype) & (sizeof(ctype) - 1)) == 0 && sizeof(ctype) <= 64, "blocks hold whole elements");
#include "util/datatypes.def"
#undef HPS_DATATYPE

constexpr const char* datatype_name(Datatype type) noexcept {
  constexpr const char* names[] = {
#define HPS_DATATYPE(name, ctype, kind) #name,
#include "util/datatypes.def"
#undef HPS_DATATYPE
  };
  return names[static_cast<std::size_t>(type)];
}

constexpr const char* op_name(Op op) noexcept {
  constexpr const char* names[] = {
#define HPS_OP(name) #name,
#include "util/ops.def"
#undef HPS_OP
  };
  return names[static_cast<std::size_t>(op)];
}

constexpr DatatypeKind datatype_kind(Datatype type) noexcept {
  constexpr DatatypeKind kinds[] = {
#define HPS_DATATYPE(name, ctype, kind) DatatypeKind::kind,
#include "util/datatypes.def"
#undef HPS_DATATYPE
  };
  return kinds[static_cast<std::size_t>(type)];
}

constexpr bool is_logical(Op op) noexcept { return op == Op::land || op == Op::lor || op == Op::lxor; }

// Whether MPI defines `op` on elements of `type`.
constexpr bool op_supports(Op op, Datatype type) noexcept {
  using Kind = DatatypeKind;
  const Kind kind = datatype_kind(type);
  switch (op) {
    case Op::sum:
    case Op::prod:
      return kind == Kind::integer || kind == Kind::floating || kind == Kind::complex;
    case Op::min:
    case Op::max:
      return kind == Kind::integer || kind == Kind::floating;
    case Op::land:
    case Op::lor:
    case Op::lxor:
      return kind == Kind::integer || kind == Kind::logical;
    case Op::band:
    case Op::bor:
    case Op::bxor:
      return kind == Kind::integer || kind == Kind::raw;
    case Op::minloc:
    case Op::maxloc:
      return kind == Kind::pair;
  }
  return false;
}

// What intermediate results are held in: sums of 16-bit floats keep the precision of a float between the roundings that
// the canonical tree prescribes.
constexpr Datatype partial_datatype(Datatype type) noexcept {
  return type == Datatype::float16 || type == Datatype::bfloat16 ? Datatype::float32 : type;
}

}  // namespace hps

#endif
