// SPDX-License-Identifier: BSD-3-Clause
#include "job/job.h"

#include <algorithm>
#include <utility>

#include "job/mpi_calls.h"

namespace hps {
namespace {

// A CPU-only rank that waits for work lets MPI make progress this often; more would cost what an idle rank must not.
constexpr TimeNs idle_interval_ns = 50'000'000;
constexpr TimeNs mpi_interval_ns = 1'000'000;

// A communicator of ours, for as long as all its ranks are sure to be there.
class OwnComm {
 public:
  explicit OwnComm(MPI_Comm comm) : comm_(comm) { MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN); }
  ~OwnComm() { MPI_Comm_free(&comm_); }
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;
  MPI_Comm get() const noexcept { return comm_; }

 private:
  MPI_Comm comm_;
};

}  // namespace

Job::Job(Runtime& runtime) : runtime_(runtime) {}

Job::~Job() {
  if (workers_ != MPI_COMM_NULL) MPI_Comm_free(&workers_);
}

// Nonblocking, so that a rank that comes late does not make the others burn their cores.
Status Job::create(Runtime& runtime, MPI_Comm comm, std::unique_ptr<Job>* job) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_idup", MPI_Comm_idup(comm, &copy, &request)));
  HPS_RETURN_IF_ERROR(runtime.wait_request(&request));
  const OwnComm own(copy);
  std::unique_ptr<Job> made(new Job(runtime));
  HPS_RETURN_IF_ERROR(made->set_up(own.get()));
  made->give_error_handler_of(comm);
  *job = std::move(made);
  return {};
}

Status Job::set_up(MPI_Comm comm) {
  role_ = runtime_.config().role;
  MemberRecord record = own_record(runtime_);
  HPS_RETURN_IF_ERROR(find_node(runtime_, comm, &record.node));
  HPS_RETURN_IF_ERROR(gather_records(runtime_, comm, record, &records_));
  HPS_RETURN_IF_ERROR(check_agreement(records_));
  HPS_RETURN_IF_ERROR(exchange_addresses(runtime_, comm, records_));
  std::vector<Rank> workers;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    places_.emplace(records_[i].rank, i);
    (records_[i].role == Role::cpu_only ? pool_ : workers).push_back(records_[i].rank);
  }
  {
    const Driver::Lock lock = runtime_.driver().lock();
    runtime_.engine().shutdown().open(std::move(workers), pool_);
  }
  const int color = role_ == Role::worker ? 0 : MPI_UNDEFINED;
  return mpi_status("MPI_Comm_split", MPI_Comm_split(comm, color, 0, &workers_));
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
  runtime_.wait([&] { return runtime_.engine().shutdown().complete(); }, idle_interval_ns);
  return {};
}

// No MPI: where a rank is lost its calls would never end. After a loss nothing is waited for but that those who are
// left have heard this rank's goodbye; results on their way to who is lost may never go out.
Status Job::finalize() {
  Engine& engine = runtime_.engine();
  Status loss;  // a copy: the background thread may find one once the lock is free
  if (role_ == Role::worker) {
    runtime_.wait([&] { return !engine.retiring(); });
    const Driver::Lock lock = runtime_.driver().lock();
    engine.shutdown().begin();
  }
  runtime_.wait([&] { return engine.shutdown().complete(); },
                role_ == Role::worker ? mpi_interval_ns : idle_interval_ns);
  {
    const Driver::Lock lock = runtime_.driver().lock();
    engine.expect_goodbyes();
    engine.say_goodbye();
  }
  runtime_.wait([&] {
    loss = engine.shutdown().loss();
    return engine.said_goodbye() && (!engine.busy() || !loss.ok());
  });
  return loss;
}

}  // namespace hps
