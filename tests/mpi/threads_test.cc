// SPDX-License-Identifier: BSD-3-Clause
// Several threads in HPS at once, each on a communicator of its own; and a call on a thread that MPI was not promised.
#include <string>
#include <thread>
#include <vector>

#include "harness.h"
#include "hps.h"
#include "jobs.h"
#include "oracle.h"

namespace hps::test {
namespace {

constexpr int threads = 4;

void make_calls(MPI_Comm comm, int number) {
  const Where where("thread " + std::to_string(number));
  std::uint64_t seed = static_cast<std::uint64_t>(number) * 1000;
  for (int count : {1, 100003, 33, 5003, 0, 20011, 7, 64007, 2}) {
    check_allreduce<int>(comm, MPI_INT, "MPI_INT", {Op::sum, count, number % 2 == 0, 0, ++seed});
    check_allreduce<float>(comm, MPI_FLOAT, "MPI_FLOAT", {Op::max, count + number, number % 2 == 1, 4, ++seed});
  }
}

// Every rank's threads make their first calls, which set their communicators up, in another order.
void call_in_order(MPI_Comm workers, const std::vector<MPI_Comm>& comms) {
  int rank = 0;
  MPI_Comm_rank(workers, &rank);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    const int number = (i + rank) % threads;
    running.emplace_back(make_calls, comms[static_cast<std::size_t>(number)], number);
  }
  for (std::thread& thread : running) thread.join();
}

void test_workers(MPI_Comm workers) {
  for (int round = 0; round < 3; ++round) {
    std::vector<MPI_Comm> comms(threads, MPI_COMM_NULL);
    for (MPI_Comm& comm : comms) HPS_EXPECT_OK(MPI_Comm_dup(workers, &comm));
    call_in_order(workers, comms);
    for (MPI_Comm& comm : comms) HPS_EXPECT_OK(MPI_Comm_free(&comm));
  }
}

void test_all() {
  run_job(own_nodes(world_size(), world_size()), {}, test_workers);
  run_job(own_nodes(world_size(), (world_size() + 1) / 2), {}, test_workers);
}

// With less than MPI_THREAD_MULTIPLE promised another thread's call must fail, and say why.
void test_other_thread(MPI_Comm workers) {
  check_allreduce<int>(workers, MPI_INT, "MPI_INT", {Op::sum, 11, false, 0, 1});
  MPI_Comm_set_errhandler(workers, MPI_ERRORS_RETURN);
  int in = 1;
  int out = -1;
  int code = MPI_SUCCESS;
  std::thread([&] { code = HPS_Allreduce_hetero(&in, &out, 1, MPI_INT, MPI_SUM, workers); }).join();
  HPS_EXPECT(error_class(code) == MPI_ERR_ARG, "class " + std::to_string(error_class(code)));
  HPS_EXPECT(error_text(code).find("MPI_THREAD_MULTIPLE") != std::string::npos, error_text(code));
  HPS_EXPECT(out == -1, "recvbuf was written to");
  check_allreduce<int>(workers, MPI_INT, "MPI_INT", {Op::sum, 11, false, 0, 2});
}

void test_funneled() { run_job(own_nodes(world_size(), world_size()), {}, test_other_thread); }

}  // namespace
}  // namespace hps::test

int main(int argc, char** argv) {
  const bool funneled = argc > 1 && std::string(argv[1]) == "funneled";
  return hps::test::run(&argc, &argv, funneled ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE,
                        funneled ? hps::test::test_funneled : hps::test::test_all);
}
