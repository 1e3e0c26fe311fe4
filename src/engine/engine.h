// SPDX-License-Identifier: BSD-3-Clause
// Engine: everything HPS does on one rank, as a passive machine. It is told of events (messages, lost peers) and of
// time, and sends through its Transport. It has no thread, no clock and no descriptor, so that a thousand of them run
// in one process in virtual time. One thread at a time; the driver's lock sees to it.
#ifndef HPS_SRC_ENGINE_ENGINE_H
#define HPS_SRC_ENGINE_ENGINE_H

#include <memory>
#include <utility>
#include <vector>

#include "engine/membership.h"
#include "summation/service.h"
#include "transport/transport.h"
#include "util/handle_table.h"
#include "wire/outbox.h"

namespace hps {

struct EngineOptions {
  Rank self = no_rank;
  std::uint32_t token = 0;  // what messages to this process must carry
  std::uint64_t serve_memory_bytes = 0;
  std::uint32_t sum_threads = 1;
  Log log;
};

class Engine final : public TransportHandler, private wire::Outbox {
 public:
  // Takes over `transport`'s events; the transport must outlive the engine's last event.
  Engine(const EngineOptions& options, Transport& transport);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Messages to `peer` carry `token`. Before that nothing can be sent to it.
  void add_peer(Rank peer, std::uint32_t token);

  // A place for a group of which no more than its handle is known yet; nullptr where there are too many groups. The
  // engine owns it; retire() takes leave of its owners and destroys it when that is done.
  Membership* add_group();
  void retire(Membership& membership) noexcept;
  // Groups that are still taking leave.
  bool retiring() const noexcept { return !retired_.empty(); }

  // Tells a CPU-only rank that the workers are done.
  Status send_shutdown(Rank to) noexcept;
  bool shutdown_received() const noexcept { return shutdown_; }
  // From now on lost connections are expected.
  void expect_goodbyes() noexcept { goodbyes_ = true; }

  // For a process that ends before others: tells every peer that it has sent to. It may close its connections when all
  // have heard it, or have ended themselves.
  void say_goodbye() noexcept;
  bool said_goodbye() const noexcept { return not_heard_.empty(); }

  // Does what events have left to do. Returns when it wants to be called again though nothing happens.
  TimeNs step(TimeNs now) noexcept;

  // Whether something is under way that needs progress: calls, results being sent.
  bool busy() const noexcept;
  Service& service() noexcept { return service_; }
  const Service& service() const noexcept { return service_; }

  void on_message(Rank source, ConstBytes header, ConstBytes payload) noexcept override;
  void on_peer_failed(Rank peer, const Status& why) noexcept override;

 private:
  class OwnedSend;
  struct Peer {
    std::uint32_t token = 0;  // 0 = unknown
    bool contacted = false;
    bool ended = false;  // it has said goodbye
  };

  Status send(Rank to, wire::Header header, ConstBytes payload, SendCompletion* completion) override;
  Status send_copy(Rank to, const wire::Header& header, std::vector<std::byte> payload) override;
  bool dispatch(const wire::Header& header, ConstBytes payload) noexcept;
  bool on_goodbye(const wire::Header& header) noexcept;
  Status send_goodbye(wire::MessageType type, Rank to) noexcept;
  void tell_lost_peers() noexcept;
  void destroy_retired() noexcept;

  EngineOptions options_;
  Transport& transport_;
  std::vector<Peer> peers_;  // by rank
  Service service_;
  std::vector<std::unique_ptr<Membership>> groups_;
  std::vector<std::unique_ptr<Membership>> retired_;
  HandleTable<Membership*> handles_;
  std::vector<std::pair<Rank, Status>> lost_;
  std::vector<Rank> not_heard_;  // the goodbye of this process
  std::size_t owned_sends_ = 0;
  bool shutdown_ = false;
  bool goodbyes_ = false;
};

}  // namespace hps

#endif
