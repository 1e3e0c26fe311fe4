// SPDX-License-Identifier: BSD-3-Clause
// Process: the whole of HPS in one process: the runtime, the job of HPS_Init, and the groups of communicators. src/api
// holds the only one. Thread-safe, as far as MPI's thread support allows.
#ifndef HPS_SRC_JOB_PROCESS_H
#define HPS_SRC_JOB_PROCESS_H

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "job/arrival.h"
#include "job/group.h"
#include "job/job.h"
#include "job/mpi_calls.h"
#include "job/runtime.h"

namespace hps {

class Process {
 public:
  // Collective over comm. *workers may be nullptr.
  Status init(MPI_Comm comm, MPI_Info info, MPI_Comm* workers);
  Status serve();
  // Collective over the job.
  Status finalize();
  bool initialized() const;
  // This rank's role: of the job, or without one what HPS_ROLE says.
  Status role(Role* role) const;
  // The group of a communicator, made where it has none: then collective over comm. It stays until the communicator is
  // freed or HPS ends.
  Status group_of(MPI_Comm comm, Group** group);

 private:
  Status start(MPI_Info info);
  Patience patience(const Status& started) const;
  Status prepare_runtime(const Config& config);
  Status ensure_runtime();
  Status make_keys();
  Group* find_group(MPI_Comm comm) const;
  void forget_group(std::uintptr_t id);
  static Status finish_implicit(Runtime& runtime);
  Status end();

  static int on_comm_freed(MPI_Comm comm, int key, void* id, void* process) noexcept;
  static int on_mpi_finalize(MPI_Comm comm, int key, void* value, void* process) noexcept;

  Arrival arrival_;
  mutable std::mutex mutex_;  // of what follows; never held while waiting for other ranks
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Job> job_;
  std::map<std::uintptr_t, std::unique_ptr<Group>> groups_;  // by the value of the communicator's attribute
  std::uintptr_t next_id_ = 1;
  int group_key_ = MPI_KEYVAL_INVALID;
  int end_key_ = MPI_KEYVAL_INVALID;
};

}  // namespace hps

#endif
