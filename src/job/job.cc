// SPDX-License-Identifier: BSD-3-Clause
#include "job/job.h"

#include <algorithm>
#include <utility>

#include "job/mpi_calls.h"

namespace hps {
namespace {

// A CPU-only rank that waits for work lets MPI make progress this often; more would cost what an idle rank must not.
constexpr TimeNs idle_interval_ns = 50'000'000;

void free_if_open(MPI_Comm& comm) {
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

}  // namespace

Job::Job(Runtime& runtime, MPI_Comm comm) : runtime_(runtime), comm_(comm) {}

Job::~Job() {
  free_if_open(workers_);
  free_if_open(members_);
  free_if_open(comm_);
}

// Nonblocking, so that a rank that comes late does not make the others burn their cores.
Status Job::create(Runtime& runtime, MPI_Comm comm, std::unique_ptr<Job>* job) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_idup", MPI_Comm_idup(comm, &copy, &request)));
  HPS_RETURN_IF_ERROR(runtime.wait_request(&request));
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  std::unique_ptr<Job> made(new Job(runtime, copy));
  HPS_RETURN_IF_ERROR(made->set_up());
  made->give_error_handler_of(comm);
  *job = std::move(made);
  return {};
}

Status Job::set_up() {
  role_ = runtime_.config().role;
  MemberRecord record = own_record(runtime_);
  HPS_RETURN_IF_ERROR(find_node(runtime_, comm_, &record.node));
  HPS_RETURN_IF_ERROR(gather_records(runtime_, comm_, record, &records_));
  HPS_RETURN_IF_ERROR(check_agreement(records_));
  HPS_RETURN_IF_ERROR(exchange_addresses(runtime_, comm_, records_));
  for (std::size_t i = 0; i < records_.size(); ++i) {
    places_.emplace(records_[i].rank, i);
    if (records_[i].role == Role::cpu_only) pool_.push_back(records_[i].rank);
  }
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_split", MPI_Comm_split(comm_, role_ == Role::worker ? 0 : 1, 0, &members_)));
  if (role_ == Role::worker) HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_dup", MPI_Comm_dup(members_, &workers_)));
  return {};
}

// The user's new communicator treats errors as the one that it comes from does.
void Job::give_error_handler_of(MPI_Comm comm) {
  if (workers_ == MPI_COMM_NULL) return;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (MPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return;
  MPI_Comm_set_errhandler(workers_, handler);
  MPI_Errhandler_free(&handler);
}

// Every rank sees the same records, so that all come to the same verdict.
Status Job::check_agreement(const std::vector<MemberRecord>& records) const {
  for (const MemberRecord& record : records) {
    if (record.wire_version != wire::version)
      return {Code::invalid_config, "rank " + std::to_string(record.rank) + " runs another version of HPS",
              record.rank};
  }
  const bool any_worker = std::any_of(records.begin(), records.end(),
                                      [](const MemberRecord& record) { return record.role == Role::worker; });
  if (any_worker) return {};
  return {Code::invalid_config, "the job has no worker: every rank has the role cpu"};
}

MPI_Comm Job::take_workers() noexcept { return std::exchange(workers_, MPI_COMM_NULL); }

const MemberRecord* Job::find(Rank rank) const noexcept {
  const auto at = places_.find(rank);
  return at == places_.end() ? nullptr : &records_[at->second];
}

Status Job::serve() {
  if (role_ != Role::cpu_only)
    return {Code::invalid_config, "HPS_Serve was called on a worker rank; it is for CPU-only ranks (HPS_ROLE=cpu)"};
  runtime_.wait([&] { return runtime_.engine().shutdown_received(); }, idle_interval_ns);
  return {};
}

Status Job::finalize() {
  if (role_ == Role::worker) {
    runtime_.wait([&] { return !runtime_.engine().retiring(); });
    HPS_RETURN_IF_ERROR(barrier(members_, runtime_.waiter()));
    int rank = 0;
    MPI_Comm_rank(members_, &rank);
    const Driver::Lock lock = runtime_.driver().lock();
    for (Rank cpu_only : rank == 0 ? pool_ : std::vector<Rank>()) {
      if (Status sent = runtime_.engine().send_shutdown(cpu_only); !sent.ok()) runtime_.log().warn(sent.to_string());
    }
  } else {
    HPS_RETURN_IF_ERROR(serve());
  }
  {
    const Driver::Lock lock = runtime_.driver().lock();
    runtime_.engine().expect_goodbyes();
  }
  runtime_.wait([&] { return !runtime_.engine().busy(); });
  return barrier(comm_, runtime_.waiter());
}

}  // namespace hps
