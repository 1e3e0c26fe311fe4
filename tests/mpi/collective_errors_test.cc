// SPDX-License-Identifier: BSD-3-Clause
// Bad input in the collective form, without HPS_Init: every rank of the call comes back, CPU-only ones too, with an
// error or right, nothing is written, and the next right call works.
//
//     collective_errors_test [variable]
//
// With the argument one rank has an HPS_* variable of a wrong value at its first call.
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness.h"
#include "hps.h"
#include "oracle.h"

namespace hps::test {
namespace {

int workers() { return (world_size() + 1) / 2; }
bool is_worker() { return world_rank() < workers(); }

void expect_error(int code, int error, const std::string& words) {
  HPS_EXPECT(error_class(code) == error, "class " + std::to_string(error_class(code)) + " instead of " +
                                             std::to_string(error) + ": " + error_text(code));
  HPS_EXPECT(error_text(code).find(words) != std::string::npos, "'" + error_text(code) + "' lacks '" + words + "'");
}

void check_right_call(MPI_Comm comm, int count) {
  const Where where("right call");
  const Case call{Op::sum, count, false, 0, 1};
  if (is_worker()) return check_call<int>(comm, world_rank(), workers(), MPI_INT, "MPI_INT", call);
  HPS_EXPECT_OK(HPS_Allreduce_hetero(nullptr, nullptr, count, MPI_INT, MPI_SUM, comm));
}

// A call of `count` elements in which rank `bad` is wrong: a worker without buffers, which fails the call on all ranks,
// or a CPU-only rank with buffers, which is told so and sums all the same.
void check_bad_call(MPI_Comm comm, int count, int bad) {
  const bool is_bad = world_rank() == bad;
  const bool has_buffer = is_worker() != is_bad;
  std::vector<int> send(static_cast<std::size_t>(count), 1);
  GuardedBuffer receive(send.size() * sizeof(int));
  const int code = HPS_Allreduce_hetero(has_buffer ? send.data() : nullptr, has_buffer ? receive.data() : nullptr,
                                        count, MPI_INT, MPI_SUM, comm);
  HPS_EXPECT(receive.guards_intact(), "recvbuf's guards were written to");
  if (is_bad)
    expect_error(code, MPI_ERR_BUFFER, is_worker() ? "NULL" : "CPU-only rank passed a buffer");
  else if (bad >= workers())
    HPS_EXPECT_OK(code);
  else if (is_worker() || code != MPI_SUCCESS)
    expect_error(code, MPI_ERR_BUFFER, "could not take part");
  const std::vector<int> right(send.size(), workers());
  if (is_worker() && code == MPI_SUCCESS)
    HPS_EXPECT(receive.holds(right.data()), first_difference(receive.data(), right, Op::sum));
  else
    HPS_EXPECT(receive.untouched(), "recvbuf was written to");
}

// Each rank in turn makes a bad call, as the communicator's first and later, small and large.
void test_bad_ranks() {
  for (int bad = 0; bad < world_size(); ++bad) {
    for (int count : {50, 80021}) {
      const Where where("rank " + std::to_string(bad) + " is wrong, count " + std::to_string(count));
      MPI_Comm comm = MPI_COMM_NULL;
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      check_bad_call(comm, count, bad);
      check_right_call(comm, count);
      check_bad_call(comm, count, bad);
      check_right_call(comm, count);
      MPI_Comm_free(&comm);
    }
  }
}

// Workers that differ in their counts: an error on each. Their CPU-only ranks come back, whatever their counts.
void test_mismatch() {
  if (workers() == 1) return;
  for (int odd = 0; odd < workers(); ++odd) {
    const Where where("rank " + std::to_string(odd) + " differs");
    const int count = world_rank() == odd ? 90002 : 90001;
    std::vector<int> send(static_cast<std::size_t>(count), 1);
    GuardedBuffer receive(send.size() * sizeof(int));
    const int code = HPS_Allreduce_hetero(is_worker() ? send.data() : nullptr, is_worker() ? receive.data() : nullptr,
                                          count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (is_worker() || code != MPI_SUCCESS) expect_error(code, MPI_ERR_OTHER, "count");
    HPS_EXPECT(receive.untouched() && receive.guards_intact(), "recvbuf was written to");
    check_right_call(MPI_COMM_WORLD, 90001);
  }
}

// HPS_Init must come first.
void test_init_comes_late() {
  MPI_Comm comm = MPI_COMM_SELF;
  expect_error(HPS_Init(MPI_COMM_WORLD, MPI_INFO_NULL, &comm), MPI_ERR_OTHER, "must come first");
  HPS_EXPECT(comm == MPI_COMM_SELF, "workers was written to");
  expect_error(HPS_Finalize(), MPI_ERR_OTHER, "HPS_Init");
  expect_error(HPS_Serve(), MPI_ERR_OTHER, "HPS_Init");
  check_right_call(MPI_COMM_WORLD, 90001);
}

void test_all() {
  test_bad_ranks();
  test_mismatch();
  test_init_comes_late();
}

// A wrong value on the last rank is an error on all, and the next call has the chance to be right.
void test_variable() {
  for (const auto& [name, value] : {std::pair{"HPS_ALGORITHM", "ring"}, std::pair{"HPS_ROLE", "boss"}}) {
    const Where where(std::string(name) + "=" + value);
    const std::string before = std::getenv(name) == nullptr ? "" : std::getenv(name);
    if (world_rank() == world_size() - 1) setenv(name, value, 1);
    int out = -1;
    const int in = 1;
    expect_error(HPS_Allreduce_hetero(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OTHER, value);
    HPS_EXPECT(out == -1, "recvbuf was written to");
    setenv(name, before.c_str(), 1);
  }
  check_right_call(MPI_COMM_WORLD, 101);
}

}  // namespace
}  // namespace hps::test

int main(int argc, char** argv) {
  using namespace hps::test;
  const bool variable = argc > 1 && std::string_view(argv[1]) == "variable";
  return run(&argc, &argv, MPI_THREAD_SINGLE, [&] {
    if (!is_worker()) setenv("HPS_ROLE", "cpu", 1);
    setenv("HPS_NODE", ("node" + std::to_string(world_rank())).c_str(), 1);
    variable ? test_variable() : test_all();
  });
}
