// SPDX-License-Identifier: BSD-3-Clause
#include "engine/wake_up.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

namespace hps {

Status WakeUp::create(std::unique_ptr<WakeUp>* wake_up) {
  const int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (descriptor < 0) return {Code::no_memory, std::string("eventfd: ") + std::strerror(errno)};
  wake_up->reset(new WakeUp(descriptor));
  return {};
}

WakeUp::~WakeUp() { ::close(descriptor_); }

void WakeUp::signal() noexcept {
  // It can fail only where the counter is full, and then the sleeper wakes anyway.
  const eventfd_t one = 1;
  static_cast<void>(eventfd_write(descriptor_, one));
}

void WakeUp::sleep(int descriptor, TimeNs timeout_ns) noexcept {
  pollfd watched[] = {{descriptor, POLLIN, 0}, {descriptor_, POLLIN, 0}};
  const timespec timeout = {timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
  // A signal ends it early, which does no harm.
  if (ppoll(watched, 2, timeout_ns == never_ns ? nullptr : &timeout, nullptr) <= 0) return;
  eventfd_t ignored;
  if (watched[1].revents != 0) static_cast<void>(eventfd_read(descriptor_, &ignored));
}

}  // namespace hps
