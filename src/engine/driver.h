// SPDX-License-Identifier: BSD-3-Clause
// Driver: gives the passive engine threads, a clock and a place to sleep.
//
// Whoever waits drives: a user's thread that waits for its call makes progress itself, so that a small message needs no
// hand-over between threads. A background thread drives only while nobody waits, for the sake of other ranks whose
// chunks this one owns. Both sleep in poll(2) when there is nothing to do; nothing spins. One lock guards engine and
// transport; it is never held while sleeping.
#ifndef HPS_SRC_ENGINE_DRIVER_H
#define HPS_SRC_ENGINE_DRIVER_H

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/engine.h"
#include "transport/event_transport.h"

namespace hps {

class WakeUp;

class Driver {
 public:
  using Lock = std::unique_lock<std::mutex>;

  // What a thread that waits does beside driving: called without the lock, about every `interval_ns` (none where it is
  // empty).
  struct Hook {
    std::function<void()> call;
    TimeNs interval_ns = 1'000'000;
  };

  // Starts the background thread. `engine` and `transport` must outlive the driver.
  static Status create(Engine& engine, EventTransport& transport, std::unique_ptr<Driver>* driver);
  // Stops the background thread. Nobody may be waiting.
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // To be held by whoever touches the engine.
  Lock lock();
  // For a thread that has sent something and does not wait: the background thread sees that it goes out.
  void nudge() noexcept;
  // Drives until `finished` says so; it is asked with the lock held, whenever something has happened, and after each
  // call of the hook. The lock is held before and after.
  void wait(Lock& lock, const std::function<bool()>& finished, const Hook& hook);

 private:
  Driver(Engine& engine, EventTransport& transport, std::unique_ptr<WakeUp> wake_up);
  void run_background();
  void await_no_user(Lock& lock);
  // Moves what can be moved now. Whether nothing is left that could move; *next: when the engine wants a step though
  // nothing happens.
  bool progress(TimeNs* next);
  // Sleeps until an event or until `deadline`; gives up the lock meanwhile.
  void sleep(Lock& lock, TimeNs deadline);
  void enter() noexcept { ++users_; }
  void leave();

  Engine& engine_;
  EventTransport& transport_;
  std::unique_ptr<WakeUp> wake_up_;
  std::mutex mutex_;
  std::condition_variable background_turn_;
  std::condition_variable progressed_;      // for users who wait while another drives
  std::uint32_t users_ = 0;                 // threads in wait()
  std::uint64_t entries_ = 0;               // into wait(), ever
  std::atomic<std::uint32_t> wanting_ = 0;  // threads in lock()
  bool user_drives_ = false;
  bool background_rests_ = false;  // deep asleep: must be told when the users have left
  bool background_polls_ = false;  // asleep on the transport's events
  bool stop_ = false;
  std::thread background_;
};

}  // namespace hps

#endif
