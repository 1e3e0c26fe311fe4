// SPDX-License-Identifier: BSD-3-Clause
#include "engine/driver.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "engine/wake_up.h"

namespace hps {
namespace {

// How long the background thread leaves the engine alone after a call: calls often follow each other, and waking it
// each time would cost a small message more than its own latency. Where results are still to be sent it is woken at
// once.
constexpr std::chrono::milliseconds grace(1);

// Rounds of progress before a driver looks up: traffic that never ends must not keep a finished call, or another
// thread, waiting.
constexpr int rounds_a_turn = 64;

TimeNs monotonic_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Driver::Driver(Engine& engine, EventTransport& transport, std::unique_ptr<WakeUp> wake_up)
    : engine_(engine), transport_(transport), wake_up_(std::move(wake_up)) {}

Status Driver::create(Engine& engine, EventTransport& transport, std::unique_ptr<Driver>* driver) {
  std::unique_ptr<WakeUp> wake_up;
  HPS_RETURN_IF_ERROR(WakeUp::create(&wake_up));
  std::unique_ptr<Driver> made(new Driver(engine, transport, std::move(wake_up)));
  try {
    made->background_ = std::thread([raw = made.get()] { raw->run_background(); });
  } catch (const std::system_error& error) {
    return {Code::no_memory, std::string("cannot start a thread: ") + error.what()};
  }
  *driver = std::move(made);
  return {};
}

Driver::~Driver() {
  if (!background_.joinable()) return;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    stop_ = true;
  }
  background_turn_.notify_all();
  wake_up_->signal();
  background_.join();
}

Driver::Lock Driver::lock() {
  ++wanting_;
  Lock lock(mutex_);
  --wanting_;
  return lock;
}

void Driver::nudge() noexcept { wake_up_->signal(); }

bool Driver::progress(TimeNs* next) {
  int rounds = 0;
  while (rounds < rounds_a_turn && transport_.progress()) ++rounds;
  *next = engine_.step(monotonic_ns());
  return rounds < rounds_a_turn;
}

void Driver::sleep(Lock& lock, TimeNs deadline) {
  if (engine_.write_trace()) return;  // something may have come meanwhile
  if (!transport_.arm()) return;
  const TimeNs timeout_ns = deadline == never_ns ? never_ns : std::max<TimeNs>(deadline - monotonic_ns(), 0);
  lock.unlock();
  wake_up_->sleep(transport_.event_descriptor(), timeout_ns);
  lock.lock();
}

void Driver::wait(Lock& lock, const std::function<bool()>& finished, const Hook& hook) {
  enter();
  TimeNs next_hook = hook.call ? monotonic_ns() + hook.interval_ns : never_ns;
  while (!finished()) {
    if (user_drives_) {
      // Another thread drives; it may be asleep, and what this one has posted may need a push.
      wake_up_->signal();
      progressed_.wait_for(lock, grace);
    } else {
      user_drives_ = true;
      TimeNs next_step = never_ns;
      const bool idle = progress(&next_step);
      progressed_.notify_all();
      if (idle && !finished()) sleep(lock, std::min(next_hook, next_step));
      user_drives_ = false;
    }
    if (next_hook != never_ns && monotonic_ns() >= next_hook) {
      lock.unlock();
      hook.call();
      lock.lock();
      next_hook = monotonic_ns() + hook.interval_ns;
    }
  }
  leave();
}

void Driver::leave() {
  ++entries_;
  if (--users_ != 0) {
    progressed_.notify_all();  // one of them drives now
    return;
  }
  if (background_rests_ || engine_.busy()) background_turn_.notify_one();
  // The users may have taken the events for which it armed the transport: it must arm it again.
  if (background_polls_) wake_up_->signal();
}

// While calls follow each other closely this wakes once a grace period; during a long one it rests until it is told.
void Driver::await_no_user(Lock& lock) {
  while (!stop_) {
    const std::uint64_t before = entries_;
    background_turn_.wait_for(lock, grace);
    if (users_ == 0 && (entries_ == before || engine_.busy())) return;
    if (users_ != 0 && entries_ == before) {
      background_rests_ = true;
      background_turn_.wait(lock, [this] { return users_ == 0 || stop_; });
      background_rests_ = false;
    }
  }
}

void Driver::run_background() {
  Lock lock(mutex_);
  while (!stop_) {
    if (users_ != 0) {
      await_no_user(lock);
      continue;
    }
    TimeNs next_step = never_ns;
    const bool idle = progress(&next_step);
    if (wanting_ != 0) {  // a mutex would rather come back to this thread
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    }
    if (!idle || users_ != 0 || stop_) continue;
    background_polls_ = true;
    sleep(lock, next_step);
    background_polls_ = false;
  }
}

}  // namespace hps
