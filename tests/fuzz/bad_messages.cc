// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/bad_messages.h"

namespace hps::fuzz {
namespace {

// The first chunk of this process that the member has not pushed, or has.
std::optional<std::uint64_t> first_chunk(const ScriptedGroup& group, std::uint32_t member, bool pushed) {
  for (std::uint64_t chunk = 0; chunk < group.chunking.chunks; ++chunk) {
    if (group.owns(chunk) && group.members[member].pushed[chunk] == pushed) return chunk;
  }
  return std::nullopt;
}

bool change_signature(const ScriptedGroup& group, std::uint32_t number, BadMessage* message) {
  wire::Signature other = signature(number, 1);
  other.count += number >> 8;
  if (other == group.signature) return false;
  message->header.signature = other;
  message->effect = Effect::spoils;
  return true;
}

// False where that changes nothing.
bool make_bad(const ScriptedGroup& group, BadPush how, std::uint32_t number, BadMessage* message) {
  wire::Header& header = message->header;
  switch (how) {
    case BadPush::handle:
      header.handle = number;
      return true;
    case BadPush::plan:
      header.plan = static_cast<std::uint16_t>(number);
      return header.plan != group.spec.plan.number;
    case BadPush::length: {
      const std::size_t right = message->payload.size();
      message->payload.resize(number % (3 * right + 2));
      return message->payload.size() != right;
    }
    case BadPush::chunk:
      header.chunk = number;
      return number >= group.chunking.chunks || !group.owns(number);
    case BadPush::duplicate:
      for (std::byte& byte : message->payload) byte ^= std::byte{0x55};
      return true;
    case BadPush::over:
      header.sequence = group.sequence - 1 - number % 3;
      message->effect = Effect::keeps;
      return true;
    case BadPush::far:
      header.sequence = group.sequence + 1 + number % 0xfffffff0;
      message->effect = Effect::taints;
      return true;
    case BadPush::signature:
      return change_signature(group, number, message);
    case BadPush::beyond_credits:
      return true;
  }
  return false;
}

std::vector<std::byte> with_chunk_bytes(wire::GroupSpec spec, std::uint32_t chunk_bytes) {
  spec.id.counter = 0x71000000 + chunk_bytes % 256;
  spec.plan.chunk_bytes = chunk_bytes;
  return wire::encode(spec);
}

}  // namespace

std::optional<BadMessage> bad_push(const ScriptedGroup& group, std::uint32_t member, BadPush how,
                                   std::uint32_t number) {
  if (group.members[member].state != MemberState::joined) return std::nullopt;
  const ScriptedMember& pusher = group.members[member];
  const std::size_t kept = (pusher.pushed & ~pusher.results).count();
  if (how == BadPush::beyond_credits && (kept < pusher.credits || group.spoiled)) return std::nullopt;
  const std::optional<std::uint64_t> chunk = first_chunk(group, member, how == BadPush::duplicate);
  if (!chunk) return std::nullopt;
  BadMessage message{group.push_header(member, *chunk), group.payload(member, *chunk), Effect::none};
  if (!make_bad(group, how, number, &message)) return std::nullopt;
  return message;
}

wire::Join bad_join(const ScriptedGroup& group, std::uint32_t member, BadJoin how, std::uint32_t number) {
  wire::Join join = group.join(member, number % 2 == 0);
  join.reply_handle = bad_reply_handle;
  switch (how) {
    case BadJoin::unknown_group:
    case BadJoin::flood:
      join.spec.clear();
      join.id.counter = 0x70000000 + number % 0x100000;
      break;
    case BadJoin::hash:
      join.spec_hash ^= 1 + number;
      break;
    case BadJoin::member:
      join.member = number;
      break;
    case BadJoin::description:
      join.spec = group.encoded;
      join.spec[(number >> 8) % join.spec.size()] ^= static_cast<std::byte>(number % 255 + 1);
      join.spec_hash = wire::hash(join.spec);
      break;
    case BadJoin::other_id:
      join.spec = group.encoded;
      join.id.counter ^= 0x8000;
      break;
    case BadJoin::chunk_bytes:
      join.spec = with_chunk_bytes(group.spec, number);
      join.id.counter = 0x71000000 + number % 256;
      join.spec_hash = wire::hash(join.spec);
      break;
    case BadJoin::truncated:
      join.spec = group.encoded;
      join.spec.resize(number % join.spec.size());
      break;
    case BadJoin::again:
      break;
  }
  return join;
}

}  // namespace hps::fuzz
