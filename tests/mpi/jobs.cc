// SPDX-License-Identifier: BSD-3-Clause
#include "jobs.h"

#include <algorithm>
#include <functional>

#include "harness.h"
#include "hps.h"

namespace hps::test {
namespace {

Placement place(const std::string& name, int ranks, const std::function<Seat(int)>& seat) {
  Placement placement{name, {}};
  for (int rank = 0; rank < ranks; ++rank) placement.seats.push_back(seat(rank));
  return placement;
}

}  // namespace

Placement own_nodes(int ranks, int workers) {
  return place("own nodes", ranks, [&](int rank) { return Seat{rank >= workers, rank}; });
}

std::vector<Placement> placements(int ranks, int workers) {
  std::vector<Placement> all = {own_nodes(ranks, workers)};
  if (ranks == 1) return all;
  all.push_back(place("two a node", ranks, [&](int rank) { return Seat{rank >= workers, rank / 2}; }));
  all.push_back(place("one node", ranks, [&](int rank) { return Seat{rank >= workers, 0}; }));
  all.push_back(place("uneven, CPU-only first", ranks, [&](int rank) {
    return Seat{rank < ranks - workers, std::max(0, rank - ranks / 2)};
  }));
  all.push_back(place("CPU-only beside workers", ranks, [&](int rank) {
    return Seat{rank >= workers, rank % workers};
  }));
  return all;
}

Settings seat_settings(const Seat& seat) {
  return {{"hps_role", seat.cpu_only ? "cpu" : "worker"}, {"hps_node", "node" + std::to_string(seat.node)}};
}

Info::Info(const Settings& settings) {
  MPI_Info_create(&info_);
  for (const auto& [key, value] : settings) MPI_Info_set(info_, key.c_str(), value.c_str());
}

namespace {

std::string in_words(const Placement& placement) {
  int workers = 0;
  int cpu_only = 0;
  for (const Seat& seat : placement.seats) {
    if (!seat.absent) ++(seat.cpu_only ? cpu_only : workers);
  }
  return std::to_string(workers) + " workers, " + std::to_string(cpu_only) + " CPU-only, " + placement.name;
}

// From HPS_Init to HPS_Finalize, on the ranks of `comm`.
void take_part(MPI_Comm comm, const Seat& seat, const Settings& settings, const std::function<void(MPI_Comm)>& work) {
  Settings all = seat_settings(seat);
  all.insert(all.end(), settings.begin(), settings.end());
  const Info info(all);
  MPI_Comm workers = MPI_COMM_NULL;
  const int code = HPS_Init(comm, info.get(), &workers);
  HPS_EXPECT_OK(code);
  if (code != MPI_SUCCESS) return;  // on all ranks
  HPS_EXPECT((workers == MPI_COMM_NULL) == seat.cpu_only, "HPS_Init gave a communicator that does not fit the role");
  if (workers == MPI_COMM_NULL) {
    lift_limit();
    HPS_EXPECT_OK(HPS_Serve());
  } else {
    work(workers);
  }
  // To free it before HPS_Finalize or after it is all right.
  static int jobs = 0;
  const bool free_before = ++jobs % 2 == 0;
  if (free_before && workers != MPI_COMM_NULL) HPS_EXPECT_OK(MPI_Comm_free(&workers));
  HPS_EXPECT_OK(HPS_Finalize());
  if (workers != MPI_COMM_NULL) HPS_EXPECT_OK(MPI_Comm_free(&workers));
}

}  // namespace

void run_job(const Placement& placement, const Settings& settings, const std::function<void(MPI_Comm)>& work) {
  const Where where(in_words(placement));
  const Seat& seat = placement.seats[static_cast<std::size_t>(world_rank())];
  MPI_Comm comm = MPI_COMM_NULL;
  HPS_EXPECT_OK(MPI_Comm_split(MPI_COMM_WORLD, seat.absent ? MPI_UNDEFINED : 0, 0, &comm));
  if (comm == MPI_COMM_NULL) return;
  take_part(comm, seat, settings, work);
  HPS_EXPECT_OK(MPI_Comm_free(&comm));
}

}  // namespace hps::test
