// SPDX-License-Identifier: BSD-3-Clause
// RecordingOutbox: takes down what parts of the engine send, for the test to read and to answer.
#ifndef HPS_TESTS_ENGINE_RECORDING_OUTBOX_H
#define HPS_TESTS_ENGINE_RECORDING_OUTBOX_H

#include <utility>
#include <vector>

#include "transport/outbox.h"

namespace hps::test {

class RecordingOutbox final : public Outbox {
 public:
  struct Sent {
    Rank to = no_rank;
    wire::Header header;
    std::vector<std::byte> payload;
  };

  Status send(Rank to, wire::Header header, ConstBytes payload, SendCompletion* completion) override {
    HPS_RETURN_IF_ERROR(send_copy(to, header, {payload.begin(), payload.end()}));
    if (completion != nullptr) completion->on_sent({});
    return {};
  }
  Status send_copy(Rank to, const wire::Header& header, std::vector<std::byte> payload) override {
    if (to == unreachable) return {Code::peer_failed, "it cannot be reached", to};
    sent_.push_back({to, header, std::move(payload)});
    return {};
  }
  // What has been sent since the last time.
  std::vector<Sent> take() { return std::exchange(sent_, {}); }

  Rank unreachable = no_rank;

 private:
  std::vector<Sent> sent_;
};

}  // namespace hps::test

#endif
