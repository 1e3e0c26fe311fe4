// SPDX-License-Identifier: BSD-3-Clause
// Tap: stands between an engine and its transport. It hashes what is delivered, so that two runs can be compared; keeps
// a few messages, so that faults can send them again; and knows which sends are under way, so that a killed rank's are
// told in the end, who would otherwise keep its memory.
#ifndef HPS_TESTS_CHAOS_TAP_H
#define HPS_TESTS_CHAOS_TAP_H

#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <vector>

#include "transport/fake/network.h"
#include "transport/transport.h"
#include "wire/header.h"

namespace hps::chaos {

struct Captured {
  Rank source = no_rank;
  std::vector<std::byte> header;
  std::vector<std::byte> payload;
};

// 64-bit FNV-1a over everything that is delivered to all ranks of a run.
class RunHash {
 public:
  void add(ConstBytes bytes) noexcept {
    for (std::byte byte : bytes) value_ = (value_ ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
  }
  void add(std::uint64_t number) noexcept { value_ = (value_ ^ number) * 0x100000001b3; }
  std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

class Tap final : public Transport, private TransportHandler {
 public:
  Tap(Rank self, const fake::Network& network, RunHash& hash) : self_(self), network_(network), hash_(hash) {}
  ~Tap() override { tell_unsent(); }
  void connect(Transport& transport) {
    transport_ = &transport;
    transport.set_handler(*this);
  }
  void keep_messages() noexcept { keeps_ = true; }
  void print_messages() noexcept { prints_ = true; }

  void set_handler(TransportHandler& handler) noexcept override { handler_ = &handler; }
  std::size_t max_chunk_bytes() const noexcept override { return transport_->max_chunk_bytes(); }
  Status send(Rank peer, ConstBytes header, ConstBytes payload, SendCompletion* completion) override {
    if (completion == nullptr) return transport_->send(peer, header, payload, nullptr);
    auto sending = std::make_unique<Sending>(*this, *completion);
    HPS_RETURN_IF_ERROR(transport_->send(peer, header, payload, sending.get()));
    const SendCompletion* const key = sending.get();
    sends_.emplace(key, std::move(sending));
    return {};
  }

  // For a rank whose network tells it nothing any more. The engine must still be there.
  void tell_unsent() noexcept {
    while (!sends_.empty()) sends_.begin()->second->on_sent({Code::transport, "killed", self_});
  }
  std::size_t sends_under_way() const noexcept { return sends_.size(); }
  const std::vector<Captured>& captured() const noexcept { return captured_; }

 private:
  static constexpr std::size_t most_captured = 32;

  class Sending final : public SendCompletion {
   public:
    Sending(Tap& tap, SendCompletion& inner) : tap_(tap), inner_(inner) {}
    void on_sent(const Status& status) noexcept override {
      SendCompletion& inner = inner_;
      tap_.sends_.erase(this);
      inner.on_sent(status);
    }

   private:
    Tap& tap_;
    SendCompletion& inner_;
  };

  void on_message(Rank source, ConstBytes header, ConstBytes payload) noexcept override {
    hash_.add(static_cast<std::uint64_t>(network_.now()));
    hash_.add(static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(self_));
    hash_.add(header);
    hash_.add(payload.size());
    if (keeps_) capture(source, header, payload);
    if (prints_) print(source, header, payload);
    handler_->on_message(source, header, payload);
  }
  void on_peer_failed(Rank peer, const Status& why) noexcept override { handler_->on_peer_failed(peer, why); }
  void capture(Rank source, ConstBytes header, ConstBytes payload) {
    if (captured_.size() < most_captured) captured_.emplace_back();
    captured_[next_++ % most_captured] = {source, {header.begin(), header.end()}, {payload.begin(), payload.end()}};
  }

  void print(Rank source, ConstBytes bytes, ConstBytes payload) const {
    wire::Header header;
    if (!wire::decode(bytes, &header)) return;
    std::printf("    %lld ns, rank %d -> %d: %s, handle %x, sequence %u, chunk %u, count %llu; %zu bytes\n",
                static_cast<long long>(network_.now()), source, self_, name_of(header.type), header.handle,
                header.sequence, header.chunk, static_cast<unsigned long long>(header.signature.count), payload.size());
  }
  static const char* name_of(wire::MessageType type) noexcept {
    constexpr const char* names[] = {"join",          "join_reply", "leave", "leave_reply", "push",         "result",
                                     "credit",        "exchange",   "abort", "cancel",      "cancel_reply", "revoke",
                                     "inquiry",       "report",     "ping",  "pong",        "shutdown",     "goodbye",
                                     "goodbye_reply", "measure",    "train", "measured",    "new_plan"};
    static_assert(std::size(names) == wire::message_types);
    return names[static_cast<std::size_t>(type)];
  }

  const Rank self_;
  const fake::Network& network_;
  RunHash& hash_;
  Transport* transport_ = nullptr;
  TransportHandler* handler_ = nullptr;
  bool keeps_ = false;
  bool prints_ = false;
  std::size_t next_ = 0;
  std::vector<Captured> captured_;
  std::unordered_map<const SendCompletion*, std::unique_ptr<Sending>> sends_;
};

}  // namespace hps::chaos

#endif
