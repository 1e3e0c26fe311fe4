// SPDX-License-Identifier: BSD-3-Clause
// Serving: between HPS_Init and HPS_Serve a CPU-only rank serves from a thread of the library; HPS_Serve returns when
// the workers are done; several jobs live beside each other; an owner serves while its own program computes.
//
//     serve_test [beside-servers]
//
// With the argument the program's own ranks are the workers of a job whose CPU-only ranks run hps_server.
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "harness.h"
#include "hps.h"
#include "jobs.h"
#include "oracle.h"

namespace hps::test {
namespace {

void check_sizes(MPI_Comm workers) {
  std::uint64_t seed = 0;
  for (int count : {1, 200003, 17, 30011, 90001, 5}) {
    check_allreduce<float>(workers, MPI_FLOAT, "MPI_FLOAT", {Op::sum, count, false, 0, ++seed});
    check_allreduce<int>(workers, MPI_INT, "MPI_INT", {Op::prod, count, true, 1, ++seed});
  }
}

void compute_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  volatile double x = 1;
  while (std::chrono::steady_clock::now() < end) x = x * 1.0000001;
}

// The CPU-only ranks compute while the workers call: it is the library's thread that serves.
void test_background() {
  const Where where("background");
  // Two worker nodes need no CPU-only one: there are three workers where there are ranks enough.
  const int workers = world_size() - (world_size() + 1) / 3;
  const Info info(seat_settings({world_rank() >= workers, world_rank()}));
  MPI_Comm comm = MPI_COMM_NULL;
  HPS_EXPECT_OK(HPS_Init(MPI_COMM_WORLD, info.get(), &comm));
  if (comm != MPI_COMM_NULL) {
    HPS_Plan plan;
    HPS_EXPECT_OK(HPS_Comm_get_plan(comm, 0, &plan, 0, nullptr));
    HPS_EXPECT(plan.k == world_size() - workers, "k is " + std::to_string(plan.k));
    check_sizes(comm);
  }
  // All calls are over before any CPU-only rank comes to HPS_Serve.
  MPI_Request over = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &over);
  for (int done = 0; done == 0; MPI_Test(&over, &done, MPI_STATUS_IGNORE)) compute_for(std::chrono::milliseconds(2));
  if (comm == MPI_COMM_NULL) HPS_EXPECT_OK(HPS_Serve());
  HPS_EXPECT_OK(HPS_Finalize());
}

// Two jobs that know nothing of each other: the odd and the even ranks.
void test_two_jobs() {
  const Where where("two jobs");
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, 0, &half);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(half, &rank);
  MPI_Comm_size(half, &size);
  const Info info(seat_settings({rank > 0 && rank == size - 1, rank}));
  MPI_Comm workers = MPI_COMM_NULL;
  HPS_EXPECT_OK(HPS_Init(half, info.get(), &workers));
  if (workers == MPI_COMM_NULL) {
    HPS_EXPECT_OK(HPS_Serve());
  } else {
    check_sizes(workers);
    // A communicator that holds ranks of the other job is none of this one's.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (world_size() > 1) {
      const int code = HPS_Comm_prepare(MPI_COMM_WORLD);
      HPS_EXPECT(error_class(code) == MPI_ERR_COMM, "a communicator with other ranks: " + error_text(code));
    }
  }
  HPS_EXPECT_OK(HPS_Finalize());
  MPI_Comm_free(&half);
}

void test_all() {
  test_background();
  test_two_jobs();
}

// The other program in the job ends by itself; the workers agree on the verdict.
void test_beside_servers() {
  MPI_Comm workers = MPI_COMM_NULL;
  HPS_EXPECT_OK(HPS_Init(MPI_COMM_WORLD, MPI_INFO_NULL, &workers));
  int size = 0;
  MPI_Comm_size(workers, &size);
  HPS_EXPECT(size < world_size(), "no rank runs hps_server");
  check_sizes(workers);
  HPS_EXPECT_OK(HPS_Finalize());
  set_verdict_comm(workers);
}

}  // namespace
}  // namespace hps::test

int main(int argc, char** argv) {
  using namespace hps::test;
  const bool beside = argc > 1 && std::string_view(argv[1]) == "beside-servers";
  return run(&argc, &argv, MPI_THREAD_SINGLE, beside ? test_beside_servers : test_all);
}
