// SPDX-License-Identifier: BSD-3-Clause
#include "wire/header.h"

#include <cstring>

#include "wire/codec.h"

namespace hps::wire {
namespace {

// The layout in memory is the layout on the wire: every field is aligned and hosts are little-endian (codec.h asserts
// it).
struct Wire {
  std::uint8_t version, type, collective, datatype, op, flags;
  std::uint16_t plan;
  std::uint32_t token, handle, sequence, chunk;
  std::uint64_t count;
};
static_assert(sizeof(Wire) == header_bytes);

constexpr std::uint8_t renews_flag = 1;

bool in_range(const Wire& wire) {
  return wire.version == version && wire.type < message_types && wire.collective < collectives &&
         wire.datatype < datatype_count && wire.op < op_count && wire.flags <= renews_flag &&
         op_supports(static_cast<Op>(wire.op), static_cast<Datatype>(wire.datatype));
}

const char* name_of(Collective collective) {
  switch (collective) {
    case Collective::none:
      break;
    case Collective::allreduce_hetero:
      return "HPS_Allreduce_hetero";
  }
  return "no collective";
}

}  // namespace

std::string difference(const Signature& mine, const Signature& other) {
  if (mine.collective != other.collective) return "the collective differs";
  if (mine.datatype != other.datatype)
    return std::string("datatype ") + datatype_name(mine.datatype) + " differs from " + datatype_name(other.datatype);
  if (mine.op != other.op) return std::string("operation ") + op_name(mine.op) + " differs from " + op_name(other.op);
  return "count " + std::to_string(mine.count) + " differs from " + std::to_string(other.count);
}

std::string describe(const Signature& signature) {
  return std::string(name_of(signature.collective)) + " of " + std::to_string(signature.count) + " " +
         datatype_name(signature.datatype) + " (" + op_name(signature.op) + ")";
}

Status mismatch(Rank rank, const Signature& its, Rank other, const Signature& others, std::uint32_t sequence) {
  return {Code::mismatch,
          "rank " + std::to_string(rank) + ": " + difference(its, others) + " on rank " + std::to_string(other) +
              " in " + name_of(its.collective) + ", call " + std::to_string(sequence),
          rank};
}

HeaderBytes encode(const Header& header) noexcept {
  Wire wire{};
  wire.version = version;
  wire.type = static_cast<std::uint8_t>(header.type);
  wire.collective = static_cast<std::uint8_t>(header.signature.collective);
  wire.datatype = static_cast<std::uint8_t>(header.signature.datatype);
  wire.op = static_cast<std::uint8_t>(header.signature.op);
  wire.flags = header.renews ? renews_flag : 0;
  wire.plan = header.plan;
  wire.token = header.token;
  wire.handle = header.handle;
  wire.sequence = header.sequence;
  wire.chunk = header.chunk;
  wire.count = header.signature.count;
  HeaderBytes bytes;
  std::memcpy(bytes.data(), &wire, sizeof wire);
  return bytes;
}

bool decode(ConstBytes bytes, Header* header) noexcept {
  if (bytes.size() != header_bytes) return false;
  Wire wire;
  std::memcpy(&wire, bytes.data(), sizeof wire);
  if (!in_range(wire)) return false;
  header->type = static_cast<MessageType>(wire.type);
  header->plan = wire.plan;
  header->token = wire.token;
  header->handle = wire.handle;
  header->sequence = wire.sequence;
  header->chunk = wire.chunk;
  header->renews = wire.flags == renews_flag;
  header->signature = {static_cast<Collective>(wire.collective), static_cast<Datatype>(wire.datatype),
                       static_cast<Op>(wire.op), wire.count};
  return true;
}

}  // namespace hps::wire
