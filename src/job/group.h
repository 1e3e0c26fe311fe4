// SPDX-License-Identifier: BSD-3-Clause
// Group: what HPS keeps for one communicator, as an attribute of it. Made at the communicator's first call,
// collectively.
#ifndef HPS_SRC_JOB_GROUP_H
#define HPS_SRC_JOB_GROUP_H

#include <mpi.h>

#include <memory>
#include <string>

#include "job/job.h"
#include "job/runtime.h"

namespace hps {

class Group {
 public:
  // What can be told without asking anybody: that comm is an intracommunicator of MPI_COMM_WORLD's ranks and, in a job,
  // of workers. Error: invalid_comm.
  static Status check(const Job* job, MPI_Comm comm);
  // Collective over comm, which check() has passed. `job` is nullptr without HPS_Init. References must outlive the
  // group.
  static Status create(Runtime& runtime, const Job* job, MPI_Comm comm, std::unique_ptr<Group>* group);
  // Takes leave of the owners in the background; returns at once.
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  Membership& membership() noexcept { return *membership_; }
  Runtime& runtime() noexcept { return runtime_; }
  // Whether this rank contributes nothing: it sums, in the collective form.
  bool is_cpu_only() const noexcept { return !membership_->self(); }
  // Connects this rank with all owners. Collective over comm.
  Status join_owners(MPI_Comm comm);

 private:
  Group(Runtime& runtime, Membership& membership) : runtime_(runtime), membership_(&membership) {}

  Runtime& runtime_;
  Membership* membership_;  // the engine's
};

}  // namespace hps

#endif
