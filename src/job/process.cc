// SPDX-License-Identifier: BSD-3-Clause
#include "job/process.h"

#include <optional>
#include <string>
#include <utility>

#include "job/mpi_calls.h"

namespace hps {
namespace {

// The value of a variable's info key.
std::optional<std::string> from_info(MPI_Info info, const ConfigVariable& variable) {
  int length = 0;
  int found = 0;
  const std::string key = info_key(variable.name);
  if (MPI_Info_get_valuelen(info, key.c_str(), &length, &found) != MPI_SUCCESS || !found) return std::nullopt;
  std::string value(static_cast<std::size_t>(length) + 1, '\0');
  if (MPI_Info_get(info, key.c_str(), length, value.data(), &found) != MPI_SUCCESS || !found) return std::nullopt;
  value.resize(static_cast<std::size_t>(length));
  return value;
}

bool is_known(const std::string& key) {
  for (const ConfigVariable& variable : config_variables()) {
    if (key == info_key(variable.name)) return true;
  }
  return false;
}

// Keys that begin with hps_ are ours, and a misspelt one must not be passed over.
Status check_info_keys(MPI_Info info) {
  int keys = 0;
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Info_get_nkeys", MPI_Info_get_nkeys(info, &keys)));
  for (int i = 0; i < keys; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = "";
    HPS_RETURN_IF_ERROR(mpi_status("MPI_Info_get_nthkey", MPI_Info_get_nthkey(info, i, key)));
    if (std::string(key).starts_with("hps_") && !is_known(key))
      return {Code::invalid_info, std::string("unknown info key ") + key +
                                      "; hps_info lists the variables, keys are their names in small letters"};
  }
  return {};
}

// A wrong value is told by the class of where it was given.
Status read_configuration(MPI_Info info, Config* config) {
  if (info == MPI_INFO_NULL) return read_config({from_environment}, config);
  HPS_RETURN_IF_ERROR(check_info_keys(info));
  const ConfigSource keys = [info](const ConfigVariable& variable) { return from_info(info, variable); };
  Config of_keys;
  if (const Status wrong = read_config({keys}, &of_keys); !wrong.ok()) return {Code::invalid_info, wrong.text()};
  return read_config({keys, from_environment}, config);
}

}  // namespace

bool Process::initialized() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return job_ != nullptr;
}

Status Process::role(Role* role) const {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (job_) {
      *role = job_->role();
      return {};
    }
  }
  Config config;
  HPS_RETURN_IF_ERROR(read_config({from_environment}, &config));
  *role = config.role;
  return {};
}

Status Process::make_keys() {
  if (group_key_ == MPI_KEYVAL_INVALID)
    HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_create_keyval",
                                   MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_comm_freed, &group_key_, this)));
  if (end_key_ != MPI_KEYVAL_INVALID) return {};
  HPS_RETURN_IF_ERROR(mpi_status("MPI_Comm_create_keyval",
                                 MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_mpi_finalize, &end_key_, this)));
  return mpi_status("MPI_Comm_set_attr", MPI_Comm_set_attr(MPI_COMM_SELF, end_key_, this));
}

// Two threads may come here at once.
Status Process::prepare_runtime(const Config& config) {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (runtime_) return {};
  HPS_RETURN_IF_ERROR(make_keys());
  return Runtime::create(config, &runtime_);
}

Status Process::ensure_runtime() {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (runtime_) return {};
  }
  Config config;
  HPS_RETURN_IF_ERROR(read_config({from_environment}, &config));
  return prepare_runtime(config);
}

// Whatever is wrong on one rank is told to all before any of them goes on, so that all fail and none waits.
Status Process::init(MPI_Comm comm, MPI_Info info, MPI_Comm* workers) {
  HPS_RETURN_IF_ERROR(Group::check(nullptr, comm));
  const Status started = start(info);
  std::unique_ptr<Job> job;
  Status status = arrival_.meet(comm, started, patience(started));
  if (status.ok()) status = Job::create(*runtime_, comm, &job);
  const std::lock_guard<std::mutex> guard(mutex_);
  if (!status.ok()) {
    if (started.ok()) runtime_.reset();
    return status;
  }
  job_ = std::move(job);
  if (workers != nullptr) *workers = job_->take_workers();
  return {};
}

// A CPU-only rank cannot tell a program that never calls HPS_Init from one that is late; a worker need not.
Patience Process::patience(const Status& started) const {
  if (!started.ok()) return {};
  const Config& config = runtime_->config();
  return {config.stall_warn, config.role == Role::cpu_only ? config.timeout : 0, runtime_->log()};
}

// What HPS_Init does on this rank alone.
Status Process::start(MPI_Info info) {
  if (initialized()) return {Code::invalid_config, "HPS_Init was called a second time; HPS_Finalize must come between"};
  if (runtime_ != nullptr)
    return {Code::invalid_config,
            "HPS_Init was called after HPS_Allreduce_hetero had been used without it; it must come first"};
  Config config;
  HPS_RETURN_IF_ERROR(read_configuration(info, &config));
  HPS_RETURN_IF_ERROR(prepare_runtime(config));
  const Status thread = runtime_->check_thread();
  if (!thread.ok()) runtime_.reset();
  return thread;
}

Status Process::serve() {
  if (!initialized()) return {Code::not_initialized, "HPS_Serve was called before HPS_Init"};
  HPS_RETURN_IF_ERROR(runtime_->check_thread());
  return job_->serve();
}

Group* Process::find_group(MPI_Comm comm) const {
  void* value = nullptr;
  int found = 0;
  if (group_key_ == MPI_KEYVAL_INVALID) return nullptr;
  if (MPI_Comm_get_attr(comm, group_key_, &value, &found) != MPI_SUCCESS || !found) return nullptr;
  const auto at = groups_.find(reinterpret_cast<std::uintptr_t>(value));
  return at == groups_.end() ? nullptr : at->second.get();
}

Status Process::group_of(MPI_Comm comm, Group** group) {
  if (comm == MPI_COMM_NULL) return {Code::invalid_comm, "MPI_COMM_NULL was given"};
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (Group* found = find_group(comm)) {
      *group = found;
      return runtime_->check_thread();
    }
  }
  HPS_RETURN_IF_ERROR(Group::check(job_.get(), comm));
  // In a job HPS_Init has seen to it that all ranks have a runtime.
  if (!job_) HPS_RETURN_IF_ERROR(agree(comm, ensure_runtime(), wait_alone));
  HPS_RETURN_IF_ERROR(runtime_->check_thread());
  std::unique_ptr<Group> made;
  HPS_RETURN_IF_ERROR(Group::create(*runtime_, job_.get(), comm, &made));
  std::uintptr_t id = 0;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    id = next_id_++;
    *group = made.get();
    groups_.emplace(id, std::move(made));
  }
  return mpi_status("MPI_Comm_set_attr", MPI_Comm_set_attr(comm, group_key_, reinterpret_cast<void*>(id)));
}

void Process::forget_group(std::uintptr_t id) {
  std::unique_ptr<Group> group;
  const std::lock_guard<std::mutex> guard(mutex_);
  const auto at = groups_.find(id);
  if (at == groups_.end()) return;  // HPS has ended since
  group = std::move(at->second);
  groups_.erase(at);
}

int Process::on_comm_freed(MPI_Comm, int, void* id, void* process) noexcept {
  static_cast<Process*>(process)->forget_group(reinterpret_cast<std::uintptr_t>(id));
  return MPI_SUCCESS;
}

int Process::on_mpi_finalize(MPI_Comm, int, void*, void* process) noexcept {
  auto* self = static_cast<Process*>(process);
  const Status status = self->end();
  self->end_key_ = MPI_KEYVAL_INVALID;
  if (status.ok()) return MPI_SUCCESS;
  Log().error(status.to_string());
  return MPI_ERR_OTHER;
}

Status Process::finalize() {
  if (!initialized()) return {Code::not_initialized, "HPS_Finalize was called without HPS_Init"};
  HPS_RETURN_IF_ERROR(runtime_->check_thread());
  return end();
}

// Without a job nobody but the members of a group know of each other: each takes leave of its owners, and serves until
// its members have left it. Ranks end one by one.
Status Process::finish_implicit(Runtime& runtime) {
  Engine& engine = runtime.engine();
  runtime.wait([&] { return !engine.retiring() && engine.service().groups() == 0 && !engine.busy(); });
  {
    const Driver::Lock lock = runtime.driver().lock();
    engine.say_goodbye();
  }
  runtime.wait([&] { return engine.said_goodbye() && !engine.busy(); });
  return {};
}

// The lock is not held meanwhile: another thread may ask whether HPS is initialised.
Status Process::end() {
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Job> job;
  std::map<std::uintptr_t, std::unique_ptr<Group>> groups;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    runtime = std::move(runtime_);
    job = std::move(job_);
    groups.swap(groups_);
  }
  if (!runtime) return {};
  groups.clear();
  const Status status = job ? job->finalize() : finish_implicit(*runtime);
  const Driver::Lock lock = runtime->driver().lock();
  runtime->engine().log_counters();
  return status;
}

}  // namespace hps
