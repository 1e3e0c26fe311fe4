// SPDX-License-Identifier: BSD-3-Clause
// HPS_Allreduce_hetero against a serial reference: every number of workers, many placements, every datatype and
// operation, sizes on both sides of every threshold, in place and not, at odd addresses, on all kinds of communicators.
//
// The product of all of these is sampled: every datatype meets every operation once for each number of workers, in a
// placement that changes with that number; the other placements take a part of it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "harness.h"
#include "hps.h"
#include "jobs.h"
#include "oracle.h"

namespace hps::test {
namespace {

std::uint64_t calls = 0;  // so far in this job: the same on every worker, for all make the same calls

Case next_case(Op op, int count) {
  ++calls;
  return {op, count, calls % 2 == 0, calls % 3 * 3, calls};
}

// Every datatype by every name, with every operation, or with one that changes from name to name.
void test_types(MPI_Comm workers, bool every_op) {
  std::size_t names = 0;
  for_each_type([&]<class T>(const NamedType& type) {
    std::vector<Op> ops;
    std::copy_if(std::begin(reference::all_ops), std::end(reference::all_ops), std::back_inserter(ops),
                 [&](Op op) { return type.supports(op); });
    const Op own_op = ops[(++names + calls) % ops.size()];
    for (Op op : ops) {
      if (!every_op && op != own_op) continue;
      check_allreduce<T>(workers, type.mpi, type.name, next_case(op, 101));
      if (op == own_op) check_allreduce<T>(workers, type.mpi, type.name, next_case(op, 10007));
    }
    check_allreduce<T>(workers, type.mpi, type.name, next_case(own_op, 1));
    check_allreduce<T>(workers, type.mpi, type.name, next_case(own_op, 0));
  });
}

// Message sizes in bytes around which something changes: the algorithm; the number of chunks, up to more than all that
// may be in flight.
std::vector<MPI_Count> thresholds(MPI_Comm workers) {
  HPS_Plan plan;
  HPS_EXPECT_OK(HPS_Comm_get_plan(workers, 0, &plan, 0, nullptr));
  const MPI_Count chunk = plan.chunk_bytes;
  return {plan.small_bytes, chunk, 2 * chunk, (plan.n + plan.k) * chunk, (plan.window + 1) * chunk};
}

template <class T>
void test_sizes(MPI_Comm workers, MPI_Datatype datatype, const char* name) {
  for (MPI_Count bytes : thresholds(workers)) {
    const auto count = static_cast<int>(bytes / static_cast<MPI_Count>(sizeof(T)));
    for (int near : {count - 1, count, count + 1}) {
      if (near >= 0) check_allreduce<T>(workers, datatype, name, next_case(Op::sum, near));
    }
  }
}

void test_large(MPI_Comm workers) {
  check_allreduce<float>(workers, MPI_FLOAT, "MPI_FLOAT", next_case(Op::sum, 300007));
  check_allreduce<std::int8_t>(workers, MPI_INT8_T, "MPI_INT8_T", next_case(Op::prod, 1000003));
  check_allreduce<double>(workers, MPI_DOUBLE, "MPI_DOUBLE", next_case(Op::max, 600011));
}

void test_some_calls(MPI_Comm comm) {
  for (int count : {3, 1009, 40009}) check_allreduce<int>(comm, MPI_INT, "MPI_INT", next_case(Op::sum, count));
}

// The ranks of `comm` with the same colour, in their order or the reverse.
MPI_Comm split(MPI_Comm comm, int color, bool reversed) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm part = MPI_COMM_NULL;
  HPS_EXPECT_OK(MPI_Comm_split(comm, color, reversed ? -rank : rank, &part));
  return part;
}

// Several communicators alive at once, used in turn, and freed in another order than they were made.
void test_communicators(MPI_Comm workers) {
  const Where where("communicators");
  int rank = 0;
  MPI_Comm_rank(workers, &rank);
  std::array<MPI_Comm, 4> comms = {MPI_COMM_NULL, split(workers, rank % 2, false), split(workers, 0, true),
                                   split(workers, rank % 2, true)};
  HPS_EXPECT_OK(MPI_Comm_dup(workers, &comms[0]));
  for (int round = 0; round < 2; ++round) {
    for (MPI_Comm comm : comms) test_some_calls(comm);
    test_some_calls(workers);
  }
  for (std::size_t i : {1u, 0u, 3u, 2u}) {
    HPS_EXPECT_OK(MPI_Comm_free(&comms[i]));
    test_some_calls(workers);
  }
}

// What a communicator needs at its owners must be given back when it is freed.
void test_many_communicators(MPI_Comm workers) {
  for (int i = 0; i < 200; ++i) {
    const Where where("communicator " + std::to_string(i) + " of 200");
    MPI_Comm copy = MPI_COMM_NULL;
    HPS_EXPECT_OK(MPI_Comm_dup(workers, &copy));
    check_allreduce<int>(copy, MPI_INT, "MPI_INT", next_case(Op::sum, i % 4 == 0 ? 20011 : 5));
    HPS_EXPECT_OK(MPI_Comm_free(&copy));
  }
}

void test_job(int workers, std::size_t number, const Placement& placement) {
  const bool whole = number % 5 == static_cast<std::size_t>(workers) % 5 || world_size() == 1;
  calls = number;
  run_job(placement, {}, [&](MPI_Comm comm) {
    test_types(comm, whole);
    test_communicators(comm);
    if (!whole) return;
    test_sizes<float>(comm, MPI_FLOAT, "MPI_FLOAT");
    test_sizes<std::int16_t>(comm, MPI_INT16_T, "MPI_INT16_T");
    test_large(comm);
    if (workers == (world_size() + 1) / 2) test_many_communicators(comm);
  });
}

void test_all() {
  for (int workers = 1; workers <= world_size(); ++workers) {
    std::size_t number = 0;
    for (const Placement& placement : placements(world_size(), workers)) test_job(workers, number++, placement);
  }
}

}  // namespace
}  // namespace hps::test

int main(int argc, char** argv) { return hps::test::run(&argc, &argv, MPI_THREAD_SINGLE, hps::test::test_all); }
