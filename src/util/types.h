// SPDX-License-Identifier: BSD-3-Clause
// The few types that every part of HPS shares: ranks, time, byte ranges, datatypes and operations.
#ifndef HPS_SRC_UTIL_TYPES_H
#define HPS_SRC_UTIL_TYPES_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace hps {

// A rank in MPI_COMM_WORLD: how every process of the job is named inside HPS. A rank within a communicator is called a
// member index.
using Rank = std::int32_t;
inline constexpr Rank no_rank = -1;

enum class Role : std::uint8_t { worker, cpu_only };

// How an all-reduce is carried out; automatic = by the message size.
enum class Algorithm : std::uint8_t { automatic, direct, recursive_doubling };

// Monotonic time in nanoseconds; the engine is told it and never reads a clock.
using TimeNs = std::int64_t;
inline constexpr TimeNs never_ns = INT64_MAX;

using ConstBytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

enum class Datatype : std::uint8_t {
#define HPS_DATATYPE(name, ctype) name,
#include "util/datatypes.def"
#undef HPS_DATATYPE
};

enum class Op : std::uint8_t {
#define HPS_OP(name) name,
#include "util/ops.def"
#undef HPS_OP
};

inline constexpr std::uint8_t datatype_count = 0
#define HPS_DATATYPE(name, ctype) +1
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
#define HPS_DATATYPE(name, ctype) sizeof(ctype),
#include "util/datatypes.def"
#undef HPS_DATATYPE
  };
  return bytes[static_cast<std::size_t>(type)];
}

constexpr const char* datatype_name(Datatype type) noexcept {
  constexpr const char* names[] = {
#define HPS_DATATYPE(name, ctype) #name,
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

}  // namespace hps

#endif
