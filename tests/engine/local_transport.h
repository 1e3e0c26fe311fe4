// SPDX-License-Identifier: BSD-3-Clause
// LocalTransport: an EventTransport between engines of one process, in real time and with real threads, for tests of
// the driver.
#ifndef HPS_TESTS_ENGINE_LOCAL_TRANSPORT_H
#define HPS_TESTS_ENGINE_LOCAL_TRANSPORT_H

#include <sys/eventfd.h>
#include <unistd.h>

#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "transport/event_transport.h"

namespace hps::test {

class LocalTransport final : public EventTransport {
 public:
  // All transports of a job, by rank; it must be complete before anything is sent.
  using Hub = std::vector<LocalTransport*>;

  explicit LocalTransport(const Hub& hub) : hub_(hub), descriptor_(eventfd(0, EFD_NONBLOCK)) {}
  ~LocalTransport() override { ::close(descriptor_); }

  void set_handler(TransportHandler& handler) noexcept override { handler_ = &handler; }
  std::size_t max_chunk_bytes() const noexcept override { return 61440; }
  Status send(Rank peer, ConstBytes header, ConstBytes payload, SendCompletion* completion) override {
    hub_[static_cast<std::size_t>(peer)]->put({{header.begin(), header.end()}, {payload.begin(), payload.end()}});
    if (completion != nullptr) completion->on_sent({});
    return {};
  }
  bool progress() noexcept override {
    eventfd_t ignored;
    static_cast<void>(eventfd_read(descriptor_, &ignored));
    std::deque<Message> messages;
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      messages.swap(inbox_);
    }
    for (const Message& message : messages) handler_->on_message(no_rank, message.header, message.payload);
    return !messages.empty();
  }
  bool arm() noexcept override {
    const std::lock_guard<std::mutex> guard(mutex_);
    return inbox_.empty();
  }
  int event_descriptor() const noexcept override { return descriptor_; }

 private:
  struct Message {
    std::vector<std::byte> header;
    std::vector<std::byte> payload;
  };
  void put(Message message) {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      inbox_.push_back(std::move(message));
    }
    static_cast<void>(eventfd_write(descriptor_, 1));
  }

  const Hub& hub_;
  int descriptor_;
  TransportHandler* handler_ = nullptr;
  std::mutex mutex_;
  std::deque<Message> inbox_;
};

}  // namespace hps::test

#endif
