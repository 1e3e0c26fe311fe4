// SPDX-License-Identifier: BSD-3-Clause
// The Summation Service as a state machine: the input is a script (service_script.h).
#include "fuzz/service_script.h"
#include "fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const hps::fuzz::ScriptReport report =
      hps::fuzz::run_service_script({reinterpret_cast<const std::byte*>(data), size});
  hps::fuzz::require(report.wrong.empty(), report.wrong);
  return 0;
}
