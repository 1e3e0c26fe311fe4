// SPDX-License-Identifier: BSD-3-Clause
// WakeUp: an eventfd that ends another thread's poll(2).
#ifndef HPS_SRC_ENGINE_WAKE_UP_H
#define HPS_SRC_ENGINE_WAKE_UP_H

#include <memory>

#include "util/status.h"

namespace hps {

class WakeUp {
 public:
  static Status create(std::unique_ptr<WakeUp>* wake_up);
  ~WakeUp();
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  // Ends the present sleep, or the next one.
  void signal() noexcept;
  // Sleeps until signal(), or until `descriptor` is readable, or for `timeout_ns` (never_ns: without end).
  void sleep(int descriptor, TimeNs timeout_ns) noexcept;

 private:
  explicit WakeUp(int descriptor) noexcept : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace hps

#endif
