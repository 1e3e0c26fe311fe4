// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds.h"

#include "fuzz/script_outbox.h"
#include "fuzz/scripted_group.h"
#include "wire/abort.h"
#include "wire/header.h"
#include "wire/join.h"
#include "wire/survey.h"

namespace hps::fuzz {
namespace {

void append(std::vector<std::byte>& to, ConstBytes bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

wire::Header header_of(wire::MessageType type, std::uint32_t chunk = 0) {
  wire::Header header;
  header.type = type;
  header.chunk = chunk;
  header.signature = signature(0, 1);
  return header;
}

void add_service_calls(std::vector<Seed>& seeds) {
  for (std::uint8_t shape = 0; shape < group_shapes; ++shape) {
    for (std::uint8_t choice : {std::uint8_t{3}, std::uint8_t{131}}) {  // one thread, two threads
      ScriptWriter script(choice, shape);
      script.add(Event::attach, {0}).add(Event::join_all, {0});
      for (std::uint8_t call = 0; call < signatures; ++call)
        script.add(Event::next_call, {0, call}).add(Event::whole_call, {0}).add(Event::sum_ready);
      script.add(Event::detach, {0}).add(Event::leave, {0, 0}).add(Event::leave, {0, 1}).add(Event::collect);
      seeds.push_back({"calls_" + std::to_string(shape) + (choice < 128 ? "" : "_threads"), script.bytes()});
    }
  }
}

void add_service_events(std::vector<Seed>& seeds) {
  for (std::uint8_t mode = 0; mode < send_modes; ++mode) {
    ScriptWriter script(4, 1);
    script.add(Event::attach, {1}).add(Event::join, {1, 0, 1}).add(Event::join, {1, 2, 0});
    script.add(Event::send_mode, {mode}).add(Event::push, {1, 0}).add(Event::push_any, {1, 2, 1}).add(Event::post, {1});
    script.add(Event::push, {1, 2}).add(Event::complete, {0, 0}).add(Event::complete, {0, 1});
    script.add(Event::withdraw, {1}).add(Event::post, {1}).add(Event::cancel_here, {1}).add(Event::next_call, {1, 2});
    script.add(Event::push, {1, 0}).add(Event::cancel_by_member, {1, 2}).add(Event::peer_failed, {2});
    script.add(Event::leave, {1, 0}).add(Event::detach, {1}).add(Event::collect).add(Event::new_group, {1, 2});
    script.add(Event::join_all, {1}).add(Event::whole_call, {1});
    seeds.push_back({"events_" + std::to_string(mode), script.bytes()});
  }
}

void add_bad_messages(std::vector<Seed>& seeds) {
  for (std::uint8_t how = 0; how < bad_pushes; ++how) {
    ScriptWriter script;
    script.add(Event::join_all, {0}).add(Event::next_call, {0, 1}).add(Event::push, {0, 0});
    script.bad_push(0, static_cast<BadPush>(how), 7).bad_push(1, static_cast<BadPush>(how), 0x80000003);
    script.add(Event::whole_call, {0}).add(Event::next_call, {0, 2}).add(Event::whole_call, {0});
    seeds.push_back({"bad_push_" + std::to_string(how), script.bytes()});
  }
  for (std::uint8_t how = 0; how < bad_joins; ++how) {
    ScriptWriter script;
    script.bad_join(0, static_cast<BadJoin>(how), 4096).add(Event::join_all, {0});
    script.bad_join(1, static_cast<BadJoin>(how), 5001).add(Event::whole_call, {0}).add(Event::collect);
    script.add(Event::bad_leave, {1, 0, 16, 0}).add(Event::bad_cancel, {0, 1, 1, 0, 0, 0, 2, 9, 9});
    seeds.push_back({"bad_join_" + std::to_string(how), script.bytes()});
  }
}

// What the service did not stand once.
void add_mended_faults(std::vector<Seed>& seeds) {
  ScriptWriter twice(4, 2);
  twice.add(Event::join_all, {0}).add(Event::next_call, {0, 2}).add(Event::push, {0, 0});
  twice.bad_push(0, BadPush::duplicate, 0).add(Event::whole_call, {0});
  seeds.push_back({"mended_summed_twice", twice.bytes()});
  ScriptWriter owner(4, 4);
  owner.add(Event::attach, {0}).bad_join(0, BadJoin::again, 0).add(Event::join_all, {0}).add(Event::whole_call, {0});
  seeds.push_back({"mended_join_as_owner", owner.bytes()});
  ScriptWriter greedy(3, 4);
  greedy.add(Event::join_all, {0});
  for (std::uint32_t i = 0; i < 24; ++i) greedy.bad_push(1, BadPush::far, i);
  seeds.push_back({"mended_beyond_credits", greedy.bytes()});
  ScriptWriter reserves(1, 0);
  for (std::uint8_t place = 0; place < 4; ++place)
    reserves.add(Event::bad_join, {place, 0, static_cast<std::uint8_t>(BadJoin::member), 100, 0, 0, 0});
  seeds.push_back({"mended_refused_joins_reserve", reserves.add(Event::collect).bytes()});
  ScriptWriter withdrawn(134, 1);
  withdrawn.add(Event::attach, {0}).add(Event::join_all, {0}).add(Event::next_call, {0, 1}).add(Event::whole_call, {0});
  seeds.push_back({"mended_withdrawn_call", withdrawn.add(Event::withdraw, {0}).add(Event::sum_ready).bytes()});
  ScriptWriter flood;
  seeds.push_back({"mended_groups_without_description", flood.bad_join(0, BadJoin::flood, 0).bytes()});
}

// Three groups in memory for one, each with a call under way; whoever goes on takes it from the others.
void add_tight_memory(std::vector<Seed>& seeds) {
  for (std::uint8_t choice : {std::uint8_t{1}, std::uint8_t{131}}) {
    ScriptWriter script(choice, 3);
    for (std::uint8_t place = 4; place-- > 0;) {
      script.add(Event::join_all, {place}).add(Event::next_call, {place, 2});
      script.add(Event::push, {place, 0}).add(Event::push, {place, 1}).add(Event::push_any, {place, 2, 1});
    }
    for (std::uint8_t round = 0; round < 8; ++round) {
      for (std::uint8_t place = 0; place < 4; ++place)
        script.add(Event::join_all, {place}).add(Event::whole_call, {place}).add(Event::sum_ready).add(Event::collect);
    }
    script.add(Event::report_lost, {1, 0, 2}).add(Event::join_all, {1}).add(Event::next_call, {0, 1});
    seeds.push_back({std::string("tight_memory") + (choice < 128 ? "" : "_threads"), script.bytes()});
  }
}

// A message with all that engine_fuzz.cc can put right, but what `wrong` says.
void add_message(std::vector<std::byte>& input, const wire::Header& header, std::uint8_t right, ConstBytes payload) {
  input.push_back(std::byte{7});
  input.push_back(std::byte{right});
  append(input, wire::encode(header));
  input.push_back(static_cast<std::byte>(payload.size() / 2));
  append(input, payload.first(payload.size() / 2 * 2));
}

}  // namespace

ScriptWriter::ScriptWriter(std::uint8_t choice, std::uint8_t shape) : bytes_(5, std::byte{shape}) {
  bytes_[0] = std::byte{choice};
}

ScriptWriter& ScriptWriter::add(Event event, const std::vector<std::uint8_t>& bytes) {
  bytes_.push_back(static_cast<std::byte>(event));
  for (std::uint8_t byte : bytes) bytes_.push_back(std::byte{byte});
  return *this;
}

void ScriptWriter::put(std::uint32_t number) { append(bytes_, std::as_bytes(std::span(&number, 1))); }

ScriptWriter& ScriptWriter::bad_push(std::uint8_t member, BadPush how, std::uint32_t number) {
  add(Event::bad_push, {0, member, static_cast<std::uint8_t>(how)});
  put(number);
  return *this;
}

ScriptWriter& ScriptWriter::bad_join(std::uint8_t member, BadJoin how, std::uint32_t number) {
  add(Event::bad_join, {0, member, static_cast<std::uint8_t>(how)});
  put(number);
  return *this;
}

std::vector<Seed> parser_seeds() {
  std::vector<Seed> seeds;
  const auto add = [&](const std::string& name, std::uint8_t decoder, ConstBytes bytes) {
    seeds.push_back({name, {std::byte{decoder}}});
    append(seeds.back().bytes, bytes);
  };
  for (std::uint8_t type = 0; type < wire::message_types; ++type)
    add("header_" + std::to_string(type), 0, wire::encode(header_of(static_cast<wire::MessageType>(type), type)));
  for (std::uint32_t shape = 0; shape < group_shapes; ++shape) {
    const ScriptedGroup group(0, shape, 1);
    add("join_" + std::to_string(shape), 1, wire::encode(group.join(0, shape % 2 == 0)));
    add("spec_" + std::to_string(shape), 4, group.encoded);
  }
  add("reply", 2, wire::encode(wire::JoinReply{1u << 20, 4, 2, {}}));
  add("reply_error", 2, wire::encode(wire::JoinReply{0, 0, 2, "it has left"}));
  add("order", 5, wire::encode(wire::MeasureOrder{3, 8, 1000}));
  add("train", 6, wire::encode(wire::TrainHead{0, 8}));
  add("measured", 7, wire::encode(wire::Measured{3, 4000, 1'000'000}));
  add("abort", 3, wire::encode_abort({Code::mismatch, "count 100 differs", 3}));
  return seeds;
}

std::vector<Seed> service_seeds() {
  std::vector<Seed> seeds;
  add_service_calls(seeds);
  add_service_events(seeds);
  add_bad_messages(seeds);
  add_mended_faults(seeds);
  add_tight_memory(seeds);
  return seeds;
}

std::vector<Seed> engine_seeds() {
  std::vector<Seed> seeds;
  const std::vector<std::byte> reply = wire::encode(wire::JoinReply{1u << 20, 4, 2, {}});
  const std::vector<std::byte> why = wire::encode_abort({Code::mismatch, "no", 2});
  for (std::uint8_t type = 0; type < wire::message_types; ++type) {
    for (std::uint8_t algorithm = 0; algorithm < 2; ++algorithm) {
      std::vector<std::byte> input{std::byte{algorithm}, std::byte{0}};
      add_message(input, header_of(wire::MessageType::join, 0), 0x83, {});
      add_message(input, header_of(wire::MessageType::join, 1), 0x83, {});
      for (std::uint32_t owner : {0u, 2u, 3u})
        add_message(input, header_of(wire::MessageType::join_reply, owner), 0x17, reply);
      for (std::uint32_t chunk = 0; chunk < 4; ++chunk) {
        add_message(input, header_of(wire::MessageType::push, chunk), 0x7b, {});
        add_message(input, header_of(static_cast<wire::MessageType>(type), chunk), 0x77, {});
      }
      add_message(input, header_of(static_cast<wire::MessageType>(type), 2), 0x37, type % 2 == 0 ? why : reply);
      for (unsigned event : {2u, 6u, 1u}) input.push_back(static_cast<std::byte>(event));
      for (unsigned byte : {7u, 0u, 4u, 0u, 6u}) input.push_back(static_cast<std::byte>(byte));  // a plan, a call
      seeds.push_back({"type_" + std::to_string(type) + (algorithm == 0 ? "" : "_small"), input});
    }
  }
  return seeds;
}

}  // namespace hps::fuzz
