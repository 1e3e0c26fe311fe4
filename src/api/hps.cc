// SPDX-License-Identifier: BSD-3-Clause
// The extern "C" functions of hps.h: check arguments, call the part that does the work, turn its Status into an MPI
// error. Nothing else.
#include "hps.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>

#include "api/arguments.h"
#include "api/errors.h"
#include "api/handles.h"
#include "coll/select.h"
#include "job/process.h"

namespace {

using hps::Code;
using hps::Status;
using hps::api::guard;

// The one Process. It is never destroyed: MPI_Finalize ends HPS, and static destructors run when MPI is gone.
hps::Process& process() {
  static auto* const the_process = new hps::Process;
  return *the_process;
}

Status check_mpi(const char* function) {
  if (hps::api::mpi_is_usable()) return {};
  return {Code::not_initialized, std::string(function) + " was called before MPI_Init or after MPI_Finalize"};
}

// A call that fails here before it starts takes its number too, and the other ranks are told. Of a CPU-only rank they
// need not be: what it sums, it sums without its caller.
Status refuse(hps::Group& group, const Status& why) {
  const hps::Driver::Lock lock = group.runtime().driver().lock();
  hps::Membership& membership = group.membership();
  const std::uint32_t sequence = membership.take_sequence();
  if (group.is_cpu_only()) return why;
  const hps::Rank self = group.runtime().self();
  membership.abort(sequence,
                   {why.code(), "rank " + std::to_string(self) + " could not take part: " + why.to_string(), self});
  group.runtime().driver().nudge();
  return why;
}

// Made under the lock that it is started under: what it does follows from the plan, which may change when the lock is
// free.
Status run(hps::Group& group, const hps::allreduce_hetero::Arguments& arguments) {
  hps::Membership& membership = group.membership();
  hps::Driver& driver = group.runtime().driver();
  hps::Driver::Lock lock = driver.lock();
  std::unique_ptr<hps::Operation> operation;
  try {
    operation = hps::make_allreduce_hetero(membership, arguments);
  } catch (const std::bad_alloc&) {
    lock.unlock();
    return refuse(group, {Code::no_memory, "no memory for the call"});
  }
  membership.start(*operation);
  driver.wait(
      lock, [&] { return operation->done(); }, group.runtime().mpi_hook());
  membership.finish(*operation);
  if (!operation->status().ok()) driver.nudge();  // other ranks are told
  return operation->status();
}

Status allreduce_hetero(const hps::api::AllreduceCall& call, MPI_Comm comm) {
  HPS_RETURN_IF_ERROR(check_mpi("HPS_Allreduce_hetero"));
  hps::Group* group = nullptr;
  HPS_RETURN_IF_ERROR(process().group_of(comm, &group));
  hps::allreduce_hetero::Arguments arguments;
  const Status checked = hps::api::to_arguments(call, group->is_cpu_only(), &arguments);
  if (!checked.ok()) return refuse(*group, checked);
  return run(*group, arguments);
}

MPI_Datatype half_type(const char* function, hps::Datatype datatype) {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  guard(MPI_COMM_NULL, [&]() -> Status {
    HPS_RETURN_IF_ERROR(check_mpi(function));
    return hps::api::handle_of(datatype, &handle);
  });
  return handle;
}

Status get_plan(MPI_Comm comm, MPI_Count bytes, HPS_Plan* told, int max_shares, double* shares) {
  HPS_RETURN_IF_ERROR(check_mpi("HPS_Comm_get_plan"));
  if (told == nullptr) return {Code::invalid_argument, "plan is NULL"};
  if (bytes < 0) return {Code::invalid_argument, "bytes is " + std::to_string(bytes) + "; 0 or more would be right"};
  if (max_shares < 0 || (max_shares > 0 && shares == nullptr))
    return {Code::invalid_argument,
            "max_shares is " + std::to_string(max_shares) + (max_shares < 0 ? "" : " and shares is NULL")};
  hps::Group* group = nullptr;
  HPS_RETURN_IF_ERROR(process().group_of(comm, &group));
  const hps::Driver::Lock lock = group->runtime().driver().lock();
  const hps::Plan& plan = group->membership().plan();
  told->number = plan.number;
  told->n = static_cast<int>(plan.n);
  told->k = static_cast<int>(plan.k);
  told->chunk_bytes = static_cast<int>(plan.chunk_bytes);
  told->window = static_cast<int>(plan.window);
  told->small_bytes = plan.small_bytes;
  told->algorithm = hps::algorithm_name(plan.algorithm(static_cast<std::uint64_t>(bytes)));
  told->bound_s = plan.bound_seconds(static_cast<double>(bytes));
  told->predicted_s = plan.predicted_seconds(static_cast<double>(bytes));
  const std::size_t told_shares = std::min(static_cast<std::size_t>(max_shares), plan.nodes.size());
  for (std::size_t i = 0; i < told_shares; ++i) shares[i] = plan.nodes[i].share;
  return {};
}

}  // namespace

extern "C" {

int HPS_Init(MPI_Comm comm, MPI_Info info, MPI_Comm* workers) {
  return guard(comm, [&]() -> Status {
    HPS_RETURN_IF_ERROR(check_mpi("HPS_Init"));
    return process().init(comm, info, workers);
  });
}

int HPS_Serve(void) {
  return guard(MPI_COMM_NULL, []() -> Status {
    HPS_RETURN_IF_ERROR(check_mpi("HPS_Serve"));
    return process().serve();
  });
}

int HPS_Finalize(void) {
  return guard(MPI_COMM_NULL, []() -> Status {
    HPS_RETURN_IF_ERROR(check_mpi("HPS_Finalize"));
    return process().finalize();
  });
}

int HPS_Initialized(int* flag) {
  return guard(MPI_COMM_NULL, [&]() -> Status {
    if (flag == nullptr) return {Code::invalid_argument, "flag is NULL"};
    *flag = process().initialized() ? 1 : 0;
    return {};
  });
}

int HPS_Get_role(int* role) {
  return guard(MPI_COMM_NULL, [&]() -> Status {
    if (role == nullptr) return {Code::invalid_argument, "role is NULL"};
    hps::Role own = hps::Role::worker;
    HPS_RETURN_IF_ERROR(process().role(&own));
    *role = own == hps::Role::worker ? HPS_WORKER : HPS_CPU_ONLY;
    return {};
  });
}

int HPS_Get_version(int* major, int* minor, int* patch) {
  if (major != nullptr) *major = HPS_VERSION_MAJOR;
  if (minor != nullptr) *minor = HPS_VERSION_MINOR;
  if (patch != nullptr) *patch = HPS_VERSION_PATCH;
  return MPI_SUCCESS;
}

MPI_Datatype HPS_Type_float16(void) { return half_type("HPS_Type_float16", hps::Datatype::float16); }

MPI_Datatype HPS_Type_bfloat16(void) { return half_type("HPS_Type_bfloat16", hps::Datatype::bfloat16); }

int HPS_Comm_prepare(MPI_Comm comm) {
  return guard(comm, [&]() -> Status {
    HPS_RETURN_IF_ERROR(check_mpi("HPS_Comm_prepare"));
    hps::Group* group = nullptr;
    HPS_RETURN_IF_ERROR(process().group_of(comm, &group));
    return group->join_owners(comm);
  });
}

int HPS_Comm_get_plan(MPI_Comm comm, MPI_Count bytes, HPS_Plan* plan, int max_shares, double shares[]) {
  return guard(comm, [&] { return get_plan(comm, bytes, plan, max_shares, shares); });
}

int HPS_Allreduce_hetero(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm) {
  return guard(comm, [&] { return allreduce_hetero({sendbuf, recvbuf, count, datatype, op}, comm); });
}

}  // extern "C"
