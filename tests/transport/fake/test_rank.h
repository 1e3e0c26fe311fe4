// SPDX-License-Identifier: BSD-3-Clause
// TestRank: a rank of a fake::Network that writes down everything it is told, and can be given a reaction.
#ifndef HPS_TESTS_TRANSPORT_FAKE_TEST_RANK_H
#define HPS_TESTS_TRANSPORT_FAKE_TEST_RANK_H

#include <functional>
#include <string>
#include <vector>

#include "transport/fake/network.h"

namespace hps::fake {

inline ConstBytes bytes_of(const std::string& text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

inline std::string text_of(ConstBytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Counts how often it is told, and keeps the last status and time.
class TestCompletion final : public SendCompletion {
 public:
  explicit TestCompletion(const Network& network) : network_(network) {}
  void on_sent(const Status& sent_status) noexcept override {
    ++told;
    status = sent_status;
    at = network_.now();
  }

  int told = 0;
  Status status;
  TimeNs at = -1;

 private:
  const Network& network_;
};

class TestRank final : public TransportHandler {
 public:
  struct Received {
    TimeNs at;
    Rank source;
    std::string header;
    std::string payload;
    bool operator==(const Received&) const = default;
  };
  struct Failed {
    TimeNs at;
    Rank peer;
    Status why;
  };

  TestRank(Network& on, std::uint32_t host)
      : network(on), transport(on.add_rank(host, [this](TimeNs now) { return step(now); })) {
    transport.set_handler(*this);
  }
  TestRank(const TestRank&) = delete;
  TestRank& operator=(const TestRank&) = delete;

  void on_message(Rank source, ConstBytes header, ConstBytes payload) noexcept override {
    received.push_back({network.now(), source, text_of(header), text_of(payload)});
    if (react) react(received.back());
  }
  void on_peer_failed(Rank peer, const Status& why) noexcept override { failed.push_back({network.now(), peer, why}); }

  Status send(Rank peer, const std::string& header, const std::string& payload = {},
              SendCompletion* completion = nullptr) {
    return transport.send(peer, bytes_of(header), bytes_of(payload), completion);
  }

  std::vector<std::string> headers() const {
    std::vector<std::string> all;
    for (const Received& message : received) all.push_back(message.header);
    return all;
  }

  Network& network;
  std::vector<Received> received;
  std::vector<Failed> failed;
  std::vector<TimeNs> steps;
  std::function<void(const Received&)> react;
  std::function<TimeNs(TimeNs)> on_step;  // what a step returns; without it, never_ns
  Transport& transport;

 private:
  TimeNs step(TimeNs now) {
    steps.push_back(now);
    return on_step ? on_step(now) : never_ns;
  }
};

}  // namespace hps::fake

#endif
