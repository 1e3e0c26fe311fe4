// SPDX-License-Identifier: BSD-3-Clause
// UcxTransport: messages as UCX active messages. Endpoints open on first use, with peer error handling. Sends are
// eager: rendezvous halves the rate over TCP, and the engine's window already bounds what is under way. UCX's own
// settings (UCX_TLS, UCX_NET_DEVICES, ...) come from the environment as for any UCX program.
#ifndef HPS_SRC_TRANSPORT_UCX_UCX_TRANSPORT_H
#define HPS_SRC_TRANSPORT_UCX_UCX_TRANSPORT_H

#include <memory>
#include <vector>

#include "transport/event_transport.h"
#include "util/log.h"

namespace hps {

class UcxTransport final : public EventTransport {
 public:
  // Error: transport, with UCX's reason.
  static Status create(const Log& log, std::unique_ptr<UcxTransport>* transport);
  ~UcxTransport() override;

  // What others need to reach this process; valid while the transport lives.
  ConstBytes address() const noexcept;
  // How to reach `peer`; opens nothing yet. A peer that is known already keeps its address.
  void add_peer(Rank peer, ConstBytes address);
  // Closes all connections at once; sends under way complete with an error, and nothing can be sent afterwards. Peers
  // that have not been told see it as a failure.
  void close() noexcept;

  void set_handler(TransportHandler& handler) noexcept override;
  Status send(Rank peer, ConstBytes header, ConstBytes payload, SendCompletion* completion) override;
  std::size_t max_chunk_bytes() const noexcept override;
  bool progress() noexcept override;
  bool arm() noexcept override;
  int event_descriptor() const noexcept override;

 private:
  struct Impl;
  explicit UcxTransport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hps

#endif
