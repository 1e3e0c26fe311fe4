// SPDX-License-Identifier: BSD-3-Clause
// HeapMeter: how much memory the code under test holds and held at most. It listens to AddressSanitizer's allocator, so
// it works where HPS is built with that; elsewhere it reads zeros and what it checks is not checked.
#ifndef HPS_TESTS_FUZZ_HEAP_METER_H
#define HPS_TESTS_FUZZ_HEAP_METER_H

#include <cstdint>

namespace hps::fuzz {

// Bytes on the heap that were allocated since the first call, less those that were freed.
std::int64_t heap_bytes() noexcept;
// The most since reset_heap_peak().
std::int64_t heap_peak_bytes() noexcept;
void reset_heap_peak() noexcept;

}  // namespace hps::fuzz

#endif
