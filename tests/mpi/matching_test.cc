// SPDX-License-Identifier: BSD-3-Clause
// Calls that differ and whose messages never meet: counts on both sides of the threshold between algorithms, with
// another datatype or operation beside, no elements against some, and a rank whose call fails before it starts. Every
// rank that waits gets an error that names who differs and in what, its recvbuf is untouched, and the next call works.
#include <chrono>
#include <string>
#include <vector>

#include "harness.h"
#include "hps.h"
#include "jobs.h"
#include "oracle.h"

namespace hps::test {
namespace {

constexpr int few = 100;
constexpr int many = 1'000'000;
constexpr double patience_seconds = 15;  // of a machine that is busy; a second is what it should take

// What a rank passes beside its buffers.
struct Shape {
  int count = 0;
  MPI_Datatype datatype = MPI_INT;
  MPI_Op op = MPI_SUM;
};

// One rank calls with `odd`, the others with `even`.
struct Difference {
  const char* name;
  Shape even;
  Shape odd;
  std::vector<std::string> words;  // in the error of every rank that waits
  int error = MPI_ERR_OTHER;       // of those
};

std::vector<Difference> differences() {
  const std::string few_text = std::to_string(few);
  const std::string many_text = std::to_string(many);
  return {
      {"few on one rank", {many}, {few}, {"count", few_text, many_text}},
      {"many on one rank", {few}, {many}, {"count", few_text, many_text}},
      {"another datatype and few", {many}, {few, MPI_DOUBLE}, {"datatype"}},
      {"another operation and many", {few}, {many, MPI_INT, MPI_MAX}, {"operation", "sum", "max"}},
      {"none on one rank, many", {many}, {0}, {"count", " 0", many_text}},
      {"none on one rank, few", {few}, {0}, {"count", " 0", few_text}},
      {"few on one rank, else none", {0}, {few}, {"count", " 0", few_text}},
      {"many on one rank, else none", {0}, {many}, {"count", " 0", many_text}},
      {"a wrong count on one rank, many", {many}, {-5}, {"could not take part", "-5"}, MPI_ERR_COUNT},
      {"a wrong count on one rank, few", {few}, {-5}, {"could not take part", "-5"}, MPI_ERR_COUNT},
  };
}

std::string algorithm(MPI_Comm comm, int count) {
  HPS_Plan plan = {};
  HPS_EXPECT_OK(HPS_Comm_get_plan(comm, static_cast<MPI_Count>(count) * 4, &plan, 0, nullptr));
  return plan.algorithm == nullptr ? "" : plan.algorithm;
}

void expect_words(int code, const std::string& word) {
  HPS_EXPECT(error_text(code).find(word) != std::string::npos, "'" + error_text(code) + "' lacks '" + word + "'");
}

// Who passes a wrong count gets the class and not the others' sentence. Who passes no elements waits for nobody: it has
// succeeded before the difference is found, or, where it comes later than that, gets the error too.
void check_outcome(const Difference& difference, bool is_odd, int odd_rank, int code) {
  const Shape& mine = is_odd ? difference.odd : difference.even;
  if (mine.count == 0 && code == MPI_SUCCESS) return;
  const int error = mine.count < 0 ? MPI_ERR_COUNT : difference.error;
  HPS_EXPECT(error_class(code) == error, "class " + std::to_string(error_class(code)) + " instead of " +
                                             std::to_string(error) + ": " + error_text(code));
  if (mine.count < 0) return expect_words(code, "-5");
  expect_words(code, "rank " + std::to_string(odd_rank));
  for (const std::string& word : difference.words) expect_words(code, word);
}

void check_difference(MPI_Comm comm, const Difference& difference, int odd_rank) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const Where where(std::string(difference.name) + ", odd is rank " + std::to_string(odd_rank));
  const bool is_odd = rank == odd_rank;
  const Shape& mine = is_odd ? difference.odd : difference.even;
  GuardedBuffer send(sizeof(double) * many);
  GuardedBuffer receive(sizeof(double) * many);
  const auto start = std::chrono::steady_clock::now();
  const int code = HPS_Allreduce_hetero(send.data(), receive.data(), mine.count, mine.datatype, mine.op, comm);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  check_outcome(difference, is_odd, odd_rank, code);
  HPS_EXPECT(time.count() < patience_seconds, "it took " + std::to_string(time.count()) + " s");
  HPS_EXPECT(receive.untouched() && receive.guards_intact(), "recvbuf was written to");
  HPS_EXPECT(send.untouched() && send.guards_intact(), "sendbuf was written to");
}

void check_differences(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  HPS_EXPECT(algorithm(comm, few) != algorithm(comm, many), "both counts use " + algorithm(comm, few));
  std::uint64_t seed = 0;
  for (int odd_rank : {0, size - 1}) {
    for (const Difference& difference : differences()) {
      check_difference(comm, difference, odd_rank);
      check_allreduce<int>(comm, MPI_INT, "MPI_INT", {Op::sum, ++seed % 2 == 0 ? few : many / 10, false, 0, seed});
    }
  }
}

void test_all() {
  const int size = world_size();
  run_job(own_nodes(size, size), {}, check_differences);
  if (size > 2) run_job(own_nodes(size, size - size / 3), {}, check_differences);
}

}  // namespace
}  // namespace hps::test

int main(int argc, char** argv) { return hps::test::run(&argc, &argv, MPI_THREAD_SINGLE, hps::test::test_all); }
