// SPDX-License-Identifier: BSD-3-Clause
#include "job/group.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "job/member_record.h"
#include "job/mpi_calls.h"
#include "plan/layout.h"
#include "wire/abort.h"
#include "wire/group_spec.h"

namespace hps {
namespace {

std::string name_of(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  MPI_Comm_get_name(comm, name, &length);
  return std::string("'") + (length > 0 ? name : "unnamed") + "'";
}

// Nodes and their ranks, in the order in which they are first named.
struct Nodes {
  std::vector<PlanNode> list;
  std::map<NodeId, std::uint32_t> index;

  std::uint32_t add(const MemberRecord& record, bool cpu_only) {
    const auto [at, is_new] = index.emplace(record.node, static_cast<std::uint32_t>(list.size()));
    if (is_new) list.push_back({cpu_only, record.rate, {}});
    PlanNode& node = list[at->second];
    node.owners.push_back(record.rank);
    node.rate = std::max(node.rate, record.rate);
    return at->second;
  }
};

// Worker nodes first. A CPU-only rank beside workers of the group adds no link, so its node counts as a worker node,
// and the workers own the node's share.
std::vector<PlanNode> plan_nodes(const std::vector<MemberRecord>& workers, const std::vector<MemberRecord>& cpu_only,
                                 std::vector<std::uint32_t>* node_of_worker) {
  Nodes worker_nodes;
  Nodes cpu_only_nodes;
  for (const MemberRecord& record : workers) node_of_worker->push_back(worker_nodes.add(record, false));
  for (const MemberRecord& record : cpu_only) {
    if (!worker_nodes.index.contains(record.node)) cpu_only_nodes.add(record, true);
  }
  std::vector<PlanNode> nodes = std::move(worker_nodes.list);
  nodes.insert(nodes.end(), cpu_only_nodes.list.begin(), cpu_only_nodes.list.end());
  return nodes;
}

// Runs on the group's first rank alone.
Status make_spec(Runtime& runtime, const std::vector<MemberRecord>& records, const std::vector<MemberRecord>& pool,
                 wire::GroupSpec* spec, PlanBasis* basis) {
  std::vector<MemberRecord> workers;
  std::vector<MemberRecord> cpu_only = pool;
  for (const MemberRecord& record : records) (record.role == Role::worker ? workers : cpu_only).push_back(record);
  if (workers.empty()) return {Code::invalid_comm, "the communicator holds no worker rank"};
  std::vector<std::uint32_t> node_of;
  basis->nodes = plan_nodes(workers, cpu_only, &node_of);
  PlanOptions& options = basis->options;
  options.chunk_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(runtime.config().chunk, UINT32_MAX));
  options.window = runtime.config().window;
  options.algorithm = runtime.config().algorithm;
  options.max_chunk_bytes = static_cast<std::uint32_t>(runtime.transport().max_chunk_bytes());
  basis->survey.message_bytes = std::min(options.max_chunk_bytes, wire::longest_train_message);
  if (const Status made = make_plan(basis->nodes, options, &spec->plan); !made.ok())
    return {Code::invalid_config, "HPS_CHUNK or HPS_WINDOW does not fit this communicator: " + made.text()};
  for (const auto& ranks : {workers, cpu_only}) {
    for (const MemberRecord& one : ranks) basis->memory_bytes = std::min(basis->memory_bytes, one.serve_memory);
  }
  spec->id = {records.front().rank, records.front().counter};
  for (const MemberRecord& worker : workers) spec->members.push_back(worker.rank);
  spec->layout = layout_from_nodes(node_of);
  return {};
}

// The spec, or why there is none, from the group's first rank to all.
Status broadcast_spec(Runtime& runtime, MPI_Comm comm, const Status& made, wire::GroupSpec* spec) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::vector<std::byte> error;
  std::vector<std::byte> encoded;
  if (rank == 0 && !made.ok()) error = wire::encode_abort(made);
  if (rank == 0 && made.ok()) encoded = wire::encode(*spec);
  HPS_RETURN_IF_ERROR(broadcast_bytes(comm, 0, runtime.waiter(), &error));
  if (!error.empty()) return wire::decode_abort(error);
  HPS_RETURN_IF_ERROR(broadcast_bytes(comm, 0, runtime.waiter(), &encoded));
  return wire::decode(encoded, spec);
}

// Whether every node's rate is known, as its users have said it.
bool is_told(const PlanBasis& basis) {
  return std::all_of(basis.nodes.begin(), basis.nodes.end(), [](const PlanNode& node) { return node.rate > 0; });
}

std::vector<MemberRecord> pool_records(const Job* job) {
  std::vector<MemberRecord> records;
  if (job == nullptr) return records;
  for (Rank rank : job->pool()) records.push_back(*job->find(rank));
  return records;
}

// A membership that goes back to the engine unless it is kept.
class NewMembership {
 public:
  explicit NewMembership(Runtime& runtime) : runtime_(runtime) {
    const Driver::Lock lock = runtime_.driver().lock();
    membership_ = runtime_.engine().add_group();
  }
  ~NewMembership() {
    if (membership_ == nullptr) return;
    const Driver::Lock lock = runtime_.driver().lock();
    runtime_.engine().retire(*membership_);
  }
  NewMembership(const NewMembership&) = delete;
  NewMembership& operator=(const NewMembership&) = delete;
  Membership* get() const noexcept { return membership_; }
  Membership* keep() noexcept { return std::exchange(membership_, nullptr); }

 private:
  Runtime& runtime_;
  Membership* membership_ = nullptr;
};

std::vector<std::uint32_t> member_handles(const std::vector<MemberRecord>& records) {
  std::vector<std::uint32_t> handles;
  for (const MemberRecord& record : records) {
    if (record.role == Role::worker) handles.push_back(record.handle);
  }
  return handles;
}

// The CPU-only ranks that call too; in a job there are none in a group.
std::vector<Membership::Helper> helpers(const std::vector<MemberRecord>& records) {
  std::vector<Membership::Helper> found;
  for (const MemberRecord& record : records) {
    if (record.role == Role::cpu_only) found.push_back({record.rank, record.handle});
  }
  return found;
}

}  // namespace

Status Group::check(const Job* job, MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return {Code::invalid_comm, "MPI_COMM_NULL was given"};
  int is_inter = 0;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_test_inter", MPI_Comm_test_inter(comm, &is_inter)));
  if (is_inter)
    return {Code::invalid_comm, name_of(comm) + " is an intercommunicator; an intracommunicator would be right"};
  std::vector<int> ranks;
  HPS_RETURN_IF_ERROR(world_ranks(comm, &ranks));
  for (int rank : ranks) {
    if (rank == MPI_UNDEFINED)
      return {Code::invalid_comm, name_of(comm) + " holds a rank that is not in MPI_COMM_WORLD"};
    if (job == nullptr) continue;
    const MemberRecord* record = job->find(rank);
    if (record == nullptr)
      return {Code::invalid_comm,
              name_of(comm) + " holds rank " + std::to_string(rank) + ", which did not take part in HPS_Init", rank};
    if (record->role == Role::cpu_only)
      return {Code::invalid_comm,
              name_of(comm) + " holds rank " + std::to_string(rank) +
                  ", which is CPU-only and serves; a communicator of worker ranks, as HPS_Init returns, would be right",
              rank};
  }
  return {};
}

Status Group::create(Runtime& runtime, const Job* job, MPI_Comm comm, std::unique_ptr<Group>* group) {
  NewMembership membership(runtime);
  MemberRecord record = own_record(runtime);
  const Status own =
      membership.get() == nullptr ? Status(Code::no_memory, "too many communicators use HPS at once") : Status();
  HPS_RETURN_IF_ERROR(agree(comm, own, runtime.waiter()));
  record.handle = record.counter = membership.get()->handle();
  if (job == nullptr)
    HPS_RETURN_IF_ERROR(find_node(runtime, comm, &record.node));
  else
    record.node = job->find(runtime.self())->node;
  std::vector<MemberRecord> records;
  HPS_RETURN_IF_ERROR(gather_records(runtime, comm, record, &records));
  if (job == nullptr) HPS_RETURN_IF_ERROR(exchange_addresses(runtime, comm, records));
  wire::GroupSpec spec;
  PlanBasis basis;
  Status made;
  if (records.front().rank == runtime.self()) made = make_spec(runtime, records, pool_records(job), &spec, &basis);
  HPS_RETURN_IF_ERROR(broadcast_spec(runtime, comm, made, &spec));
  if (records.front().rank == runtime.self()) runtime.log().info("comm " + name_of(comm) + ": " + spec.plan.describe());
  {
    const Driver::Lock lock = runtime.driver().lock();
    HPS_RETURN_IF_ERROR(
        membership.get()->open(std::move(spec), member_handles(records), helpers(records), name_of(comm)));
    if (runtime.config().measure && !is_told(basis)) membership.get()->allow_renewal(std::move(basis));
  }
  // A CPU-only rank that comes to its call when the workers have left the group must find that it has served it.
  if (job == nullptr) HPS_RETURN_IF_ERROR(barrier(comm, runtime.waiter()));
  group->reset(new Group(runtime, *membership.keep()));
  return {};
}

Group::~Group() {
  const Driver::Lock lock = runtime_.driver().lock();
  runtime_.engine().retire(*membership_);
  runtime_.driver().nudge();
}

Status Group::join_owners(MPI_Comm comm) {
  {
    const Driver::Lock lock = runtime_.driver().lock();
    membership_->join_all();
  }
  Status failure;  // a copy: the background thread may find a lost member once the lock is free
  runtime_.wait([&] {
    failure = membership_->failure();
    return membership_->joined_all() || !failure.ok();
  });
  return agree(comm, failure, runtime_.waiter());
}

}  // namespace hps
