// SPDX-License-Identifier: BSD-3-Clause
// The inputs that fuzzing starts from: each decoder's own encodings, every event of a service script in a place where
// it does something, every message that an engine gets.
#ifndef HPS_TESTS_FUZZ_SEEDS_H
#define HPS_TESTS_FUZZ_SEEDS_H

#include <string>
#include <vector>

#include "fuzz/service_script.h"

namespace hps::fuzz {

struct Seed {
  std::string name;
  std::vector<std::byte> bytes;
};

std::vector<Seed> parser_seeds();
std::vector<Seed> service_seeds();
std::vector<Seed> engine_seeds();

// Writes a service script.
class ScriptWriter {
 public:
  // `choice` is the first byte of a script; all groups get the same shape.
  explicit ScriptWriter(std::uint8_t choice = 3, std::uint8_t shape = 0);

  ScriptWriter& add(Event event, const std::vector<std::uint8_t>& bytes = {});
  ScriptWriter& bad_push(std::uint8_t member, BadPush how, std::uint32_t number);
  ScriptWriter& bad_join(std::uint8_t member, BadJoin how, std::uint32_t number);
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  void put(std::uint32_t number);

  std::vector<std::byte> bytes_;
};

}  // namespace hps::fuzz

#endif
