// SPDX-License-Identifier: BSD-3-Clause
// Job: what HPS_Init sets up: the role and node of every rank, and which of them serve. It exists from HPS_Init to
// HPS_Finalize.
#ifndef HPS_SRC_JOB_JOB_H
#define HPS_SRC_JOB_JOB_H

#include <mpi.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "job/member_record.h"
#include "job/runtime.h"

namespace hps {

class Job {
 public:
  // Collective over comm.
  static Status create(Runtime& runtime, MPI_Comm comm, std::unique_ptr<Job>* job);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  Role role() const noexcept { return role_; }
  // All workers, in the order of comm; MPI_COMM_NULL on a CPU-only rank. The caller of HPS_Init may free it.
  MPI_Comm take_workers() noexcept;
  // The record of a rank; nullptr for one that is not in the job.
  const MemberRecord* find(Rank rank) const noexcept;
  // The CPU-only ranks, in the order of comm.
  const std::vector<Rank>& pool() const noexcept { return pool_; }

  // Drives until the workers are done.
  Status serve();
  // Waits for all workers; then CPU-only ranks serve no longer. Every group has been closed. Collective over the job.
  // Where a rank is lost nobody waits for workers; error: peer_failed, of the lost rank.
  Status finalize();

 private:
  explicit Job(Runtime& runtime);
  Status set_up(MPI_Comm comm);
  void give_error_handler_of(MPI_Comm comm);
  Status check_agreement(const std::vector<MemberRecord>& records) const;

  Runtime& runtime_;
  MPI_Comm workers_ = MPI_COMM_NULL;  // the user's, until it is taken
  Role role_ = Role::worker;
  std::vector<MemberRecord> records_;  // by rank of comm
  std::unordered_map<Rank, std::size_t> places_;
  std::vector<Rank> pool_;
};

}  // namespace hps

#endif
