// SPDX-License-Identifier: BSD-3-Clause
// What every fuzz target has: the entry point that libFuzzer and replay_main.cc call, and a check that ends the process
// so that either keeps the input.
#ifndef HPS_TESTS_FUZZ_TARGET_H
#define HPS_TESTS_FUZZ_TARGET_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace hps::fuzz {

inline void require(bool held, const std::string& what) {
  if (held) return;
  static_cast<void>(std::fprintf(stderr, "fuzz: %s\n", what.c_str()));
  std::abort();
}

}  // namespace hps::fuzz

#endif
