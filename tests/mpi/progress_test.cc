// SPDX-License-Identifier: BSD-3-Clause
// A rank that waits in HPS lets MPI make progress: a large MPI_Isend posted before an HPS call completes though its
// rank is inside that call, as it would inside MPI_Allreduce. The message is long enough that MPI sends it only when
// the receiver has asked for it (rendezvous), so that without progress both ranks would wait for ever.
#include <vector>

#include "harness.h"
#include "hps.h"
#include "jobs.h"
#include "oracle.h"

namespace hps::test {
namespace {

constexpr int message_elements = 1 << 18;  // 1 MB

// `send` posts its message, calls HPS, and only then waits; `receive` has the message before it calls. All others call.
void exchange_around_call(MPI_Comm workers, int send, int receive, int count) {
  int rank = 0;
  MPI_Comm_rank(workers, &rank);
  const Where where("from " + std::to_string(send) + " to " + std::to_string(receive));
  std::vector<int> message(message_elements, rank == send ? send : -1);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == send) HPS_EXPECT_OK(MPI_Isend(message.data(), message_elements, MPI_INT, receive, 0, workers, &request));
  if (rank == receive)
    HPS_EXPECT_OK(MPI_Recv(message.data(), message_elements, MPI_INT, send, 0, workers, MPI_STATUS_IGNORE));
  check_allreduce<int>(workers, MPI_INT, "MPI_INT", {Op::sum, count, false, 0, 7});
  HPS_EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  if (rank == receive) HPS_EXPECT(message == std::vector<int>(message_elements, send), "the message is wrong");
}

// The first call on a communicator sets it up; later ones do not. Small messages and large ones wait in different ways.
void test_workers(MPI_Comm workers) {
  int size = 0;
  MPI_Comm_size(workers, &size);
  for (int count : {10, 100003}) {
    exchange_around_call(workers, 0, size - 1, count);
    exchange_around_call(workers, size - 1, 0, count);
  }
}

void test_all() {
  if (world_size() < 2) return skip("two ranks are needed");
  run_job(own_nodes(world_size(), world_size()), {}, test_workers);
  if (world_size() > 2) run_job(own_nodes(world_size(), world_size() - 1), {}, test_workers);
}

}  // namespace
}  // namespace hps::test

int main(int argc, char** argv) { return hps::test::run(&argc, &argv, MPI_THREAD_SINGLE, hps::test::test_all); }
