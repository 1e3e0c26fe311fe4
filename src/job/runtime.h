// SPDX-License-Identifier: BSD-3-Clause
// Runtime: what HPS runs on in one process: transport, engine, driver. One a process at a time; made at the first need,
// ended by HPS_Finalize or MPI_Finalize.
#ifndef HPS_SRC_JOB_RUNTIME_H
#define HPS_SRC_JOB_RUNTIME_H

#include <mpi.h>

#include <memory>

#include "engine/driver.h"
#include "engine/engine.h"
#include "transport/ucx/ucx_transport.h"
#include "util/config.h"
#include "util/trace.h"

namespace hps {

class Runtime {
 public:
  // Local. MPI must be initialised.
  static Status create(const Config& config, std::unique_ptr<Runtime>* runtime);
  // Connections are closed at once: whoever needs to be told must have been.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const Config& config() const noexcept { return config_; }
  const Log& log() const noexcept { return log_; }
  Rank self() const noexcept { return self_; }
  std::uint32_t token() const noexcept { return token_; }
  UcxTransport& transport() noexcept { return *transport_; }
  Engine& engine() noexcept { return *engine_; }
  Driver& driver() noexcept { return *driver_; }

  // Whether this thread may call HPS, given the thread support that MPI was initialised with. Error: invalid_argument.
  Status check_thread() const;
  // What a thread that waits in HPS does for MPI: an MPI_Isend that is under way must go on, as it would inside an MPI
  // call.
  Driver::Hook mpi_hook(TimeNs interval_ns = 1'000'000) const;
  // Drives until `finished` (asked with the lock held).
  void wait(const std::function<bool()>& finished, TimeNs mpi_interval_ns = 1'000'000);
  // Drives until an MPI request of this thread is complete.
  Status wait_request(MPI_Request* request);
  std::function<Status(MPI_Request*)> waiter() {
    return [this](MPI_Request* request) { return wait_request(request); };
  }

 private:
  explicit Runtime(const Config& config);
  Status start();
  Status open_trace();

  Config config_;
  Rank self_ = no_rank;
  Log log_;
  std::uint32_t token_ = 0;
  int thread_level_ = MPI_THREAD_SINGLE;
  MPI_Comm probe_comm_ = MPI_COMM_NULL;  // nothing is ever sent on it
  std::unique_ptr<Trace> trace_;         // nullptr without HPS_TRACE
  std::unique_ptr<UcxTransport> transport_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Driver> driver_;
};

}  // namespace hps

#endif
