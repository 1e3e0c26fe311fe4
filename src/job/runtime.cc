// SPDX-License-Identifier: BSD-3-Clause
#include "job/runtime.h"

#include <sched.h>
#include <unistd.h>

#include <random>
#include <string>

#include "job/mpi_calls.h"

namespace hps {
namespace {

constexpr TimeNs second_ns = 1'000'000'000;

// Never 0, which means "unknown".
std::uint32_t random_token() {
  std::random_device source;
  return source() | 1u;
}

Status check_threads([[maybe_unused]] std::uint32_t threads) {
#ifndef _OPENMP
  if (threads > 1)
    return {Code::invalid_config,
            "HPS_THREADS=" + std::to_string(threads) + ": HPS was built without OpenMP, so 1 is all there is"};
#endif
  return {};
}

}  // namespace

Runtime::Runtime(const Config& config) : config_(config) {}

Status Runtime::create(const Config& config, std::unique_ptr<Runtime>* runtime) {
  std::unique_ptr<Runtime> made(new Runtime(config));
  HPS_RETURN_IF_ERROR(made->start());
  *runtime = std::move(made);
  return {};
}

Status Runtime::start() {
  int rank = 0;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_rank", MPI_Comm_rank(MPI_COMM_WORLD, &rank)));
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Query_thread", MPI_Query_thread(&thread_level_)));
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_SELF, &probe_comm_)));
  self_ = rank;
  log_ = Log(config_.log, self_);
  token_ = random_token();
  HPS_RETURN_IF_ERROR(check_threads(config_.threads));
  HPS_RETURN_IF_ERROR(open_trace());
  HPS_RETURN_IF_ERROR(UcxTransport::create(log_, &transport_));
  EngineOptions options{self_, token_, config_.serve_memory, config_.threads, config_.timeout * second_ns,
                        {},    log_,   trace_.get()};
  options.watch.referee.warn_ns = config_.stall_warn * second_ns;
  engine_ = std::make_unique<Engine>(options, *transport_);
  return Driver::create(*engine_, *transport_, &driver_);
}

Status Runtime::open_trace() {
  if (config_.trace.empty()) return {};
  char host[256] = "";
  if (gethostname(host, sizeof(host) - 1) != 0) host[0] = '\0';
  TraceOptions options;
  options.path = config_.trace;
  options.rank = self_;
  options.role = config_.role;
  options.host = host;
  options.clock = wall_clock();
  options.log = log_;
  return Trace::create(options, &trace_);
}

// The transport's last callbacks go to the engine, so it is closed first and destroyed last.
Runtime::~Runtime() {
  driver_.reset();
  if (transport_) transport_->close();
  engine_.reset();
  if (probe_comm_ != MPI_COMM_NULL) MPI_Comm_free(&probe_comm_);
}

Status Runtime::check_thread() const {
  if (thread_level_ >= MPI_THREAD_SERIALIZED) return {};
  int main_thread = 0;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Is_thread_main", MPI_Is_thread_main(&main_thread)));
  if (main_thread) return {};
  return {Code::invalid_argument,
          "HPS was called on a thread other than the one that initialised MPI, which was asked for no more than "
          "MPI_THREAD_FUNNELED; MPI_THREAD_MULTIPLE would be right"};
}

Driver::Hook Runtime::mpi_hook(TimeNs interval_ns) const {
  const auto probe = [comm = probe_comm_] {
    int found = 0;
    // Nothing can be found there; looking is what makes MPI progress.
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
  };
  return {probe, interval_ns};
}

void Runtime::wait(const std::function<bool()>& finished, TimeNs mpi_interval_ns) {
  Driver::Lock lock = driver_->lock();
  driver_->wait(lock, finished, mpi_hook(mpi_interval_ns));
}

Status Runtime::wait_request(MPI_Request* request) {
  // Most are complete after a look or two.
  constexpr int looks = 20;
  int complete = 0;
  int code = MPI_SUCCESS;
  for (int i = 0; i < looks && !complete && code == MPI_SUCCESS; ++i) {
    code = MPI_Test(request, &complete, MPI_STATUS_IGNORE);
    if (!complete) sched_yield();
  }
  if (!complete && code == MPI_SUCCESS) {
    const auto test = [&] { code = MPI_Test(request, &complete, MPI_STATUS_IGNORE); };
    Driver::Lock lock = driver_->lock();
    driver_->wait(lock, [&] { return complete != 0 || code != MPI_SUCCESS; }, {test, 1'000'000});
  }
  return mpi_status("waiting for the other ranks", code);
}

}  // namespace hps
