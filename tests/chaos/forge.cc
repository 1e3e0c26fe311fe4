// SPDX-License-Identifier: BSD-3-Clause
#include "chaos/forge.h"

#include <iterator>

#include "chaos/dice.h"
#include "wire/header.h"

namespace hps::chaos {
namespace {

using wire::MessageType;

std::vector<std::byte> random_bytes(Dice& dice, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(dice.next());
  return bytes;
}

Captured with_header(const Captured& captured, const wire::Header& header) {
  const wire::HeaderBytes bytes = wire::encode(header);
  return {captured.source, {bytes.begin(), bytes.end()}, captured.payload};
}

// A header that decodes, of fields that are small as often as not, for handles and numbers are small. A JOIN would be
// believed: anybody may describe a group.
Captured random_fields(Dice& dice, std::uint32_t token) {
  const auto number = [&] { return static_cast<std::uint32_t>(dice.one_in(2) ? dice.below(8) : dice.next()); };
  wire::Header header;
  header.type = static_cast<MessageType>(dice.between(1, wire::message_types - 1));
  header.plan = static_cast<std::uint16_t>(dice.between(2, 100));
  header.token = token;
  header.handle = number();
  header.sequence = number();
  header.chunk = dice.one_in(2) ? 1000 + number() % 1000 : static_cast<std::uint32_t>(dice.next());
  header.signature.count = number();
  return with_header({no_rank, {}, random_bytes(dice, dice.below(200))}, header);
}

void cut(Dice& dice, std::vector<std::byte>& bytes) { bytes.resize(dice.below(bytes.size())); }

Captured truncate(Dice& dice, Captured message) {
  cut(dice, message.payload.empty() || dice.one_in(3) ? message.header : message.payload);
  return message;
}

// What a member could really have called with, were it another call.
Captured flip_signature(Dice& dice, const Captured& captured, wire::Header header) {
  switch (dice.below(3)) {
    case 0:
      header.signature.count ^= 1ull << dice.below(20);
      break;
    case 1:
      header.signature.op = header.signature.op == Op::sum ? Op::prod : Op::sum;
      break;
    default:
      header.signature.datatype = header.signature.datatype == Datatype::int32 ? Datatype::int16 : Datatype::int32;
      break;
  }
  return with_header(captured, header);
}

Captured flip_any(Dice& dice, Captured message) {
  for (std::uint64_t flips = dice.between(1, 3); flips > 0; --flips)
    message.header[dice.below(message.header.size())] ^= std::byte{1} << dice.below(8);
  return message;
}

// What could be believed but for where it comes from: what a rank might say next, of another's endpoint. An abort names
// nobody, and comes again as it was.
Captured from_another(Dice& dice, Captured message, wire::Header header, std::uint32_t ranks) {
  constexpr MessageType of_members[] = {MessageType::push, MessageType::leave, MessageType::cancel};
  constexpr MessageType of_processes[] = {MessageType::goodbye, MessageType::shutdown, MessageType::pong};
  const Rank source = message.source;
  message.source = static_cast<Rank>((static_cast<std::uint32_t>(source) + dice.between(1, ranks - 1)) % ranks);
  if (header.type == MessageType::abort || dice.one_in(4)) return message;
  if (dice.one_in(3)) {
    header.type = of_processes[dice.below(std::size(of_processes))];
    header.chunk = static_cast<std::uint32_t>(source);
  } else {
    if (header.type == MessageType::push) header.type = of_members[dice.below(std::size(of_members))];
    header.sequence += static_cast<std::uint32_t>(dice.below(2));
    if (header.type == MessageType::push || header.type == MessageType::result || header.type == MessageType::exchange)
      message.payload = random_bytes(dice, message.payload.size());
  }
  return with_header(message, header);
}

std::optional<Captured> forge_from_nothing(const Fault& fault, std::uint32_t token) {
  Dice dice(fault.random);
  const std::size_t bytes = dice.one_in(2) ? wire::header_bytes : dice.below(80);
  if (fault.kind == Fault::Kind::random_bytes)
    return Captured{no_rank, random_bytes(dice, bytes), random_bytes(dice, dice.below(200))};
  if (fault.kind == Fault::Kind::random_fields) return random_fields(dice, token);
  return std::nullopt;
}

// Whether the fault may send this message again.
bool may_come_again(const Fault& fault, const Kinds& kinds, MessageType type) {
  switch (fault.kind) {
    case Fault::Kind::stray:
    case Fault::Kind::flip_any:
      return true;
    case Fault::Kind::flip_signature:
      // To an owner it is a call that does not match. A grant of credits has its number there.
      return type == MessageType::exchange || (kinds.mismatch_at_owners && type == MessageType::push);
    case Fault::Kind::duplicate:
      return kinds.replays || (type != MessageType::join && type != MessageType::push);
    default:
      return kinds.replays || type != MessageType::join;
  }
}

}  // namespace

std::optional<Captured> forge(const Fault& fault, const Kinds& kinds, std::uint32_t ranks, std::uint32_t token,
                              const std::vector<Captured>& captured) {
  if (auto made = forge_from_nothing(fault, token)) return made;
  if (captured.empty()) return std::nullopt;
  Dice dice(fault.random);
  const Captured& message = captured[dice.below(captured.size())];
  wire::Header header;
  if (!wire::decode(message.header, &header) || !may_come_again(fault, kinds, header.type)) return std::nullopt;
  switch (fault.kind) {
    case Fault::Kind::stray:
      if (dice.one_in(2)) return from_another(dice, message, header, ranks);
      header.token ^= 1u << dice.below(32);
      return with_header(message, header);
    case Fault::Kind::truncate:
      return truncate(dice, message);
    case Fault::Kind::flip_signature:
      return flip_signature(dice, message, header);
    case Fault::Kind::flip_any:
      return flip_any(dice, message);
    default:
      return message;
  }
}

}  // namespace hps::chaos
