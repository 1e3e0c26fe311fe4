// SPDX-License-Identifier: BSD-3-Clause
// The collective form: HPS_Allreduce_hetero without HPS_Init, on communicators that hold both roles. CPU-only ranks
// call too, with NULL buffers. The program ends HPS with MPI_Finalize alone.
//
//     collective_form_test all|half|one [RANKS A NODE]
//
// says how many of the ranks are workers: a process reads its role once, at its first call.
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "harness.h"
#include "hps.h"
#include "oracle.h"

namespace hps::test {
namespace {

int workers = 1;  // of MPI_COMM_WORLD, which has them first

bool is_worker(int rank) { return rank < workers; }

void set_environment(std::string_view part, int ranks_a_node) {
  workers = part == "all" ? world_size() : part == "half" ? (world_size() + 1) / 2 : 1;
  if (!is_worker(world_rank())) setenv("HPS_ROLE", "cpu", 1);
  setenv("HPS_NODE", ("node" + std::to_string(world_rank() / ranks_a_node)).c_str(), 1);
}

// One call on a communicator whose ranks are those of MPI_COMM_WORLD in their order, from `first` on.
template <class T>
void check_mixed(MPI_Comm comm, int first, MPI_Datatype datatype, const char* type, const Case& call) {
  const int members = workers - first;
  if (is_worker(world_rank())) return check_call<T>(comm, world_rank() - first, members, datatype, type, call);
  const Where where(std::string("CPU-only, ") + type + " count " + std::to_string(call.count));
  HPS_EXPECT_OK(HPS_Allreduce_hetero(nullptr, nullptr, call.count, datatype, mpi_op(call.op), comm));
}

void check_sizes(MPI_Comm comm, int first) {
  std::uint64_t seed = 0;
  for (int count : {5, 0, 200003, 1, 10007, 101, 64007}) {
    check_mixed<float>(comm, first, MPI_FLOAT, "MPI_FLOAT", {Op::sum, count, seed % 2 == 1, seed, seed});
    ++seed;
    check_mixed<int>(comm, first, MPI_INT, "MPI_INT", {Op::prod, count, seed % 2 == 0, 3, seed});
  }
}

void test_world() {
  const Where where("MPI_COMM_WORLD");
  check_sizes(MPI_COMM_WORLD, 0);
}

void test_plan() {
  const Where where("plan");
  HPS_Plan plan;
  std::vector<double> shares(static_cast<std::size_t>(world_size()), -1);
  HPS_EXPECT_OK(HPS_Comm_get_plan(MPI_COMM_WORLD, 1 << 20, &plan, world_size(), shares.data()));
  double whole = 0;
  for (int i = 0; i < plan.n + plan.k; ++i) whole += shares[static_cast<std::size_t>(i)];
  HPS_EXPECT(whole > 0.999999 && whole < 1.000001, "the shares' sum is " + std::to_string(whole));
  HPS_EXPECT(plan.n >= 1 && plan.n <= workers, "n is " + std::to_string(plan.n));
  HPS_EXPECT(plan.k <= world_size() - workers, "k is " + std::to_string(plan.k));
  // What the CPU-only ranks are there for.
  if (plan.n < 3) return;
  for (int i = plan.n; i < plan.n + plan.k; ++i)
    HPS_EXPECT(shares[static_cast<std::size_t>(i)] > 0,
               "CPU-only node " + std::to_string(i - plan.n) + " sums nothing");
}

// Communicators that come and go, each prepared beforehand or not.
void test_copies() {
  for (int i = 0; i < 20; ++i) {
    const Where where("copy " + std::to_string(i));
    MPI_Comm copy = MPI_COMM_NULL;
    HPS_EXPECT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    if (i % 3 == 0) HPS_EXPECT_OK(HPS_Comm_prepare(copy));
    check_mixed<int>(copy, 0, MPI_INT, "MPI_INT", {Op::sum, i % 2 == 0 ? 9 : 30011, false, 0, 1});
    HPS_EXPECT_OK(MPI_Comm_free(&copy));
  }
}

// Without the first rank; and the workers alone, beside whom nobody serves.
void test_parts() {
  const Where where("parts");
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() == 0 ? MPI_UNDEFINED : 0, 0, &part);
  if (part != MPI_COMM_NULL && workers > 1) check_sizes(part, 1);
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  MPI_Comm_split(MPI_COMM_WORLD, is_worker(world_rank()) ? 0 : MPI_UNDEFINED, 0, &part);
  if (part == MPI_COMM_NULL) return;
  check_sizes(part, 0);
  MPI_Comm_free(&part);
}

// CPU-only ranks alone have nothing to sum; they are told so.
void test_no_worker() {
  const Where where("no worker");
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, is_worker(world_rank()) ? MPI_UNDEFINED : 0, 0, &part);
  if (part == MPI_COMM_NULL) return;
  MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN);
  const int code = HPS_Allreduce_hetero(nullptr, nullptr, 1, MPI_INT, MPI_SUM, part);
  HPS_EXPECT(error_class(code) == MPI_ERR_COMM, "a communicator without workers: " + error_text(code));
  MPI_Comm_free(&part);
}

void test_role() {
  int role = -1;
  int initialized = -1;
  HPS_EXPECT_OK(HPS_Get_role(&role));
  HPS_EXPECT(role == (is_worker(world_rank()) ? HPS_WORKER : HPS_CPU_ONLY), "the role is " + std::to_string(role));
  HPS_EXPECT_OK(HPS_Initialized(&initialized));
  HPS_EXPECT(initialized == 0, "HPS is said to be initialised");
}

void test_all() {
  test_role();
  test_world();
  test_plan();
  test_copies();
  test_parts();
  test_no_worker();
  test_world();
}

}  // namespace
}  // namespace hps::test

int main(int argc, char** argv) {
  return hps::test::run(&argc, &argv, MPI_THREAD_SINGLE, [&] {
    hps::test::set_environment(argc > 1 ? argv[1] : "half", argc > 2 ? std::atoi(argv[2]) : 1);
    hps::test::test_all();
  });
}
