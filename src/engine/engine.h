// SPDX-License-Identifier: BSD-3-Clause
// Engine: everything HPS does on one rank, as a passive machine. It is told of events (messages, lost peers) and of
// time, and sends through its Transport. It has no thread, no clock and no descriptor, so that a thousand of them run
// in one process in virtual time. One thread at a time; the driver's lock sees to it.
#ifndef HPS_SRC_ENGINE_ENGINE_H
#define HPS_SRC_ENGINE_ENGINE_H

#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/liveness.h"
#include "engine/membership.h"
#include "engine/prober.h"
#include "engine/shutdown.h"
#include "summation/service.h"
#include "transport/outbox.h"
#include "transport/transport.h"
#include "util/handle_table.h"
#include "util/trace.h"

namespace hps {

struct EngineOptions {
  Rank self = no_rank;
  std::uint32_t token = 0;  // what messages to this process must carry
  std::uint64_t serve_memory_bytes = 0;
  std::uint32_t sum_threads = 1;
  TimeNs timeout_ns = 0;  // a rank that does not answer for so long is lost; 0 = never
  WatchOptions watch;
  Log log;
  Trace* trace = nullptr;  // where spans are noted; it must outlive the engine and its transport
};

class Engine final : public TransportHandler, private Outbox {
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
  void retire(Membership& membership);
  // Groups that are still taking leave.
  bool retiring() const noexcept { return !retired_.empty(); }

  // The end of the job.
  Shutdown& shutdown() noexcept { return shutdown_; }
  // From now on connections may break; that of a peer which has not heard this process's goodbye still matters.
  void expect_goodbyes() noexcept { goodbyes_ = true; }

  // For a process that ends before others: tells every peer with which it has exchanged messages. It may close its
  // connections when all have heard it, or have ended themselves.
  void say_goodbye();
  bool said_goodbye() const noexcept { return not_heard_.empty(); }

  // Tells the log what was counted, and warns where messages were rejected that no rank of the job should have sent.
  // To be called once, at the end.
  void log_counters() const;

  // Does what events have left to do. Returns when it wants to be called again though nothing happens. Where the system
  // has no memory, all groups fail.
  TimeNs step(TimeNs now) noexcept;

  // For a thread that would sleep: writes some of the trace. Whether there was any to write.
  bool write_trace() noexcept { return options_.trace != nullptr && options_.trace->write_some(); }

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
    bool contacted = false;   // one has sent to the other
    bool needed = false;      // something that calls wait for
    bool ended = false;       // it has said goodbye
  };

  struct Loss {
    Rank peer = no_rank;
    Status why;
    bool is_silent = false;  // it has not answered, though its connection stands
  };

  Status send(Rank to, wire::Header header, ConstBytes payload, SendCompletion* completion) override;
  Status send_copy(Rank to, const wire::Header& header, std::vector<std::byte> payload) override;
  void note_sender(Rank peer) noexcept override;
  Rejection receive(Rank source, ConstBytes header, ConstBytes payload);
  Rank sender_named_in(const wire::Header& header, ConstBytes payload);
  Rejection dispatch(Rank source, const wire::Header& header, ConstBytes payload);
  Rejection on_message_of_process(const wire::Header& header, ConstBytes payload);
  Rejection on_goodbye(const wire::Header& header);
  Rejection on_message_after_end(const wire::Header& header, ConstBytes payload);
  Rejection answer_after_end(const wire::Header& header, ConstBytes payload);
  Rejection decline(const wire::Header& header, ConstBytes payload);
  Status send_goodbye(wire::MessageType type, Rank to);
  bool is_known(std::uint32_t rank) const noexcept { return rank < peers_.size() && peers_[rank].token != 0; }
  TimeNs work(TimeNs now);
  void tell_measured(TimeNs now);
  void find_silent_peers(TimeNs now);
  TimeNs look_for_parting_members(TimeNs now);
  TimeNs look_for_not_heard(TimeNs now);
  void tell_lost_peers();
  void lose(const Loss& loss);
  void fail_all(const Status& why) noexcept;
  void destroy_retired() noexcept;

  EngineOptions options_;
  Transport& transport_;
  std::vector<Peer> peers_;  // by rank
  Service service_;
  Liveness liveness_;
  Prober prober_;
  Shutdown shutdown_;
  std::map<Rank, LostPeer> lost_peers_;
  Interval parting_looks_;
  TimeNs now_ = 0;  // of the last step
  std::vector<std::unique_ptr<Membership>> groups_;
  std::vector<std::unique_ptr<Membership>> retired_;
  std::deque<GroupRemains> remains_;  // of the latest groups that are gone
  HandleTable<Membership*> handles_;
  std::vector<Loss> lost_;
  std::vector<Rank> not_heard_;  // the goodbye of this process
  Interval goodbye_looks_;
  std::size_t owned_sends_ = 0;
  bool out_of_memory_ = false;
  bool goodbyes_ = false;
};

}  // namespace hps

#endif
