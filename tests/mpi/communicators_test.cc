// SPDX-License-Identifier: BSD-3-Clause
// Thousands of communicators, used and freed in one job, two threads at a time with up to eight of them alive: what a
// rank and the owners keep does not grow with the number that there have been.
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "harness.h"
#include "hps.h"
#include "jobs.h"
#include "oracle.h"

namespace hps::test {
namespace {

constexpr int threads = 2;
constexpr std::size_t alive = 4;  // of each thread, at most
constexpr int a_part = 400;       // communicators of each thread
constexpr int parts = 4;
// Left of a communicator in the part that leaves least: pools of MPI and UCX grow by megabytes now and then, and some
// messages are under way; what is kept of each communicator is kept in every part.
constexpr double most_bytes_each = 300;

// What this process has allocated.
double allocated_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

void free_first(std::deque<MPI_Comm>* comms) {
  HPS_EXPECT_OK(MPI_Comm_free(&comms->front()));
  comms->pop_front();
}

// Small messages, and now and then a large one, which the owners sum.
void use(MPI_Comm comm, int number) {
  const int count = number % 50 == 0 ? 30011 : number % 7;
  check_allreduce<int>(comm, MPI_INT, "MPI_INT", {Op::sum, count, false, 0, static_cast<std::uint64_t>(number)});
}

// A thread's communicators of one part.
void make_and_free(MPI_Comm parent) {
  std::deque<MPI_Comm> comms;
  for (int i = 0; i < a_part; ++i) {
    comms.push_back(MPI_COMM_NULL);
    HPS_EXPECT_OK(MPI_Comm_dup(parent, &comms.back()));
    use(comms.back(), i);
    use(comms.front(), i + 1);
    if (comms.size() == alive) free_first(&comms);
  }
  while (!comms.empty()) free_first(&comms);
}

void work(MPI_Comm workers, const std::vector<MPI_Comm>& parents) {
  if (workers == MPI_COMM_NULL) return;
  std::vector<std::thread> running;
  for (MPI_Comm parent : parents)
    running.emplace_back([parent] {
      const Where where("communicators");
      make_and_free(parent);
    });
  for (std::thread& thread : running) thread.join();
}

// CPU-only ranks wait in MPI, as the library's thread serves.
void test_all() {
  const int size = world_size();
  const Info info(seat_settings({world_rank() >= size - size / 3, world_rank()}));
  MPI_Comm workers = MPI_COMM_NULL;
  HPS_EXPECT_OK(HPS_Init(MPI_COMM_WORLD, info.get(), &workers));
  std::vector<MPI_Comm> parents(workers == MPI_COMM_NULL ? 0 : threads, MPI_COMM_NULL);
  for (MPI_Comm& parent : parents) MPI_Comm_dup(workers, &parent);
  double before = 0;
  double each = std::numeric_limits<double>::max();
  for (int part = 0; part < parts; ++part) {
    const Where where("part " + std::to_string(part));
    work(workers, parents);
    MPI_Barrier(MPI_COMM_WORLD);
    const double after = allocated_bytes();
    if (part != 0) each = std::min(each, (after - before) / (threads * a_part));
    before = after;
  }
  HPS_EXPECT(each < most_bytes_each, std::to_string(each) + " bytes are left of each communicator");
  if (workers == MPI_COMM_NULL) HPS_EXPECT_OK(HPS_Serve());
  for (MPI_Comm& parent : parents) MPI_Comm_free(&parent);
  if (workers != MPI_COMM_NULL) MPI_Comm_free(&workers);
  HPS_EXPECT_OK(HPS_Finalize());
}

}  // namespace
}  // namespace hps::test

int main(int argc, char** argv) { return hps::test::run(&argc, &argv, MPI_THREAD_MULTIPLE, hps::test::test_all); }
