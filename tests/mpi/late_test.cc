// SPDX-License-Identifier: BSD-3-Clause
// Late is not dead: a rank that computes, without a call to HPS or MPI, for longer than HPS_TIMEOUT is waited for, and
// the call succeeds. After HPS_STALL_WARN one rank names, once, who has not come.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "harness.h"
#include "hps.h"
#include "jobs.h"
#include "oracle.h"

namespace hps::test {
namespace {

constexpr std::chrono::seconds late_by(5);
const Settings impatient = {{"hps_timeout", "2"}, {"hps_stall_warn", "1"}};

void compute() {
  const auto end = std::chrono::steady_clock::now() + late_by;
  volatile double x = 1;
  while (std::chrono::steady_clock::now() < end) x = x * 1.0000001;
}

// Standard error goes to a file while this lives.
class Captured {
 public:
  Captured() : file_(std::tmpfile()), before_(dup(STDERR_FILENO)) { dup2(fileno(file_), STDERR_FILENO); }
  ~Captured() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    std::fclose(file_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::string text() {
    std::rewind(file_);
    std::string text(1 << 16, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file_));
    return text;
  }

 private:
  std::FILE* file_;
  int before_;
};

int occurrences(const std::string& text, const std::string& words) {
  int found = 0;
  for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++found;
  return found;
}

// One rank comes late to a call of `count` elements. What the ranks wrote meanwhile is theirs together.
void test_late_rank(MPI_Comm comm, int late, int count) {
  const Where where("rank " + std::to_string(late) + " is late, count " + std::to_string(count));
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::string text;
  const int failures_before = failures();
  {
    Captured captured;
    if (rank == late) compute();
    check_allreduce<int>(comm, MPI_INT, "MPI_INT", {Op::sum, count, false, 0, static_cast<std::uint64_t>(count)});
    text = captured.text();
  }
  int warnings[] = {occurrences(text, "has stood still"),
                    occurrences(text, "not there yet: rank " + std::to_string(late) + "\n")};
  HPS_EXPECT(failures() == failures_before, "the call failed: " + text);
  HPS_EXPECT(text.find("lost rank") == std::string::npos, "a rank was given up: " + text);
  MPI_Allreduce(MPI_IN_PLACE, warnings, 2, MPI_INT, MPI_SUM, comm);
  HPS_EXPECT(warnings[0] == 1 && warnings[1] == 1, std::to_string(warnings[0]) + " warnings, of which " +
                                                       std::to_string(warnings[1]) +
                                                       " name the rank alone; this rank wrote '" + text + "'");
}

void test_late_ranks(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  check_allreduce<int>(comm, MPI_INT, "MPI_INT", {Op::sum, 300007, false, 0, 1});
  test_late_rank(comm, 0, 300007);
  test_late_rank(comm, size - 1, 10);
}

void test_all() {
  const int size = world_size();
  run_job(own_nodes(size, size - size / 3), impatient, test_late_ranks);
}

}  // namespace
}  // namespace hps::test

int main(int argc, char** argv) { return hps::test::run(&argc, &argv, MPI_THREAD_SINGLE, hps::test::test_all); }
