// SPDX-License-Identifier: BSD-3-Clause
// ScriptOutbox: what the service under test sends through. It hands every message to the script at once, and tells of
// results as sent at once, later or never, well or not. It keeps no copies, so that what the heap grows by is the
// service's.
#ifndef HPS_TESTS_FUZZ_SCRIPT_OUTBOX_H
#define HPS_TESTS_FUZZ_SCRIPT_OUTBOX_H

#include <algorithm>
#include <utility>
#include <vector>

#include "transport/outbox.h"

namespace hps::fuzz {

enum class SendMode : std::uint8_t { at_once, later, refuse };
inline constexpr std::uint32_t send_modes = 3;

class MessageSink {
 public:
  virtual void on_sent_message(Rank to, const wire::Header& header, ConstBytes payload) = 0;
  // A result is the receiver's, and its sender needs the memory no more.
  virtual void on_completed(const wire::Header& header) = 0;
  virtual void on_refused(Rank to) = 0;

 protected:
  ~MessageSink() = default;
};

class ScriptOutbox final : public hps::Outbox {
 public:
  explicit ScriptOutbox(MessageSink& sink) : sink_(sink) { pending_.reserve(most_pending); }

  SendMode mode = SendMode::at_once;

  Status send(Rank to, wire::Header header, ConstBytes payload, SendCompletion* completion) override {
    sink_.on_sent_message(to, header, payload);
    if (mode == SendMode::refuse) {
      sink_.on_refused(to);
      return {Code::transport, "refused by the script", to};
    }
    pending_.emplace_back(header, completion);
    if (mode == SendMode::at_once || pending_.size() == most_pending) complete_last({});
    return {};
  }
  Status send_copy(Rank to, const wire::Header& header, std::vector<std::byte> payload) override {
    sink_.on_sent_message(to, header, payload);
    if (mode != SendMode::refuse) return {};
    sink_.on_refused(to);
    return {Code::transport, "refused by the script", to};
  }

  bool sending() const { return !pending_.empty(); }
  // Whether anything is under way to one of the `handles` handles from `first` on.
  bool sending(std::uint32_t first, std::size_t handles) const {
    return std::any_of(pending_.begin(), pending_.end(),
                       [&](const auto& sent) { return sent.first.handle - first < handles; });
  }
  void complete(std::size_t which, const Status& status) {
    if (pending_.empty()) return;
    std::swap(pending_[which % pending_.size()], pending_.back());
    complete_last(status);
  }

 private:
  static constexpr std::size_t most_pending = 1024;

  void complete_last(const Status& status) {
    const auto [header, completion] = pending_.back();
    pending_.pop_back();
    if (completion != nullptr) completion->on_sent(status);
    sink_.on_completed(header);
  }

  MessageSink& sink_;
  std::vector<std::pair<wire::Header, SendCompletion*>> pending_;
};

}  // namespace hps::fuzz

#endif
