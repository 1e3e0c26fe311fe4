// SPDX-License-Identifier: BSD-3-Clause
// Jobs inside one mpirun: every number of workers and many placements, made with info keys by HPS_Init and HPS_Finalize
// over and over.
#ifndef HPS_TESTS_MPI_JOBS_H
#define HPS_TESTS_MPI_JOBS_H

#include <mpi.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace hps::test {

// What one rank is in a job.
struct Seat {
  bool cpu_only = false;
  int node = 0;
  bool absent = false;  // it takes no part in the job
};

struct Placement {
  std::string name;
  std::vector<Seat> seats;  // by rank of MPI_COMM_WORLD
};

// Each rank a node of its own; the first `workers` ranks are workers.
Placement own_nodes(int ranks, int workers);
// Those, and: two ranks a node; all on one node; nodes of unequal size with the CPU-only ranks first; CPU-only ranks on
// the workers' nodes.
std::vector<Placement> placements(int ranks, int workers);

using Settings = std::vector<std::pair<std::string, std::string>>;  // info keys and values
Settings seat_settings(const Seat& seat);

// An MPI_Info that lives as long as this does.
class Info {
 public:
  explicit Info(const Settings& settings);
  ~Info() { MPI_Info_free(&info_); }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  MPI_Info get() const noexcept { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

// A whole job, over MPI_COMM_WORLD without the absent: workers do `work` on the communicator that HPS_Init gave them,
// CPU-only ranks serve. `settings` are this rank's, beside its seat's.
void run_job(const Placement& placement, const Settings& settings, const std::function<void(MPI_Comm)>& work);

}  // namespace hps::test

#endif
