// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/heap_meter.h"

#include <algorithm>

#if defined(__SANITIZE_ADDRESS__)
#define HPS_HEAP_METER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HPS_HEAP_METER 1
#endif
#endif

// g++ brings the sanitizer without this header.
#if defined(HPS_HEAP_METER) && __has_include(<sanitizer/allocator_interface.h>)
#include <sanitizer/allocator_interface.h>
#else
#undef HPS_HEAP_METER
#endif

namespace hps::fuzz {
namespace {

std::int64_t held = 0;
std::int64_t peak = 0;

#ifdef HPS_HEAP_METER
void on_allocated(const volatile void*, std::size_t bytes) {
  held += static_cast<std::int64_t>(bytes);
  peak = std::max(peak, held);
}
void on_freed(const volatile void* memory) {
  if (memory == nullptr) return;
  held -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(const_cast<const void*>(memory)));
}
#endif

// The targets are single-threaded, so plain counters do.
void listen() noexcept {
#ifdef HPS_HEAP_METER
  static const int installed = __sanitizer_install_malloc_and_free_hooks(on_allocated, on_freed);
  static_cast<void>(installed);
#endif
}

}  // namespace

std::int64_t heap_bytes() noexcept {
  listen();
  return held;
}

std::int64_t heap_peak_bytes() noexcept { return peak; }

void reset_heap_peak() noexcept { peak = heap_bytes(); }

}  // namespace hps::fuzz
