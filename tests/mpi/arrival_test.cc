// SPDX-License-Identifier: BSD-3-Clause
// HPS_Init waits for all ranks: a CPU-only rank that gives up, after HPS_TIMEOUT, makes it fail on every rank, with one
// error that names it, and the next HPS_Init works; workers never give up.
//
//     arrival_test [race ATTEMPTS | late SECONDS | never]
//
// `race` makes one of the tests longer, for those who search. With the others absent_test says who else is in the job
// and what is to happen: the program's ranks call HPS_Init so late, and print what came of it, or never call it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness.h"
#include "hps.h"
#include "jobs.h"
#include "oracle.h"

namespace hps::test {
namespace {

constexpr int word_tag = 1;

void compute_until(std::chrono::steady_clock::time_point end) {
  volatile double x = 1;
  while (std::chrono::steady_clock::now() < end) x = x * 1.0000001;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

int rank_in_world(MPI_Comm comm, int rank) {
  int result = 0;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, 1, &rank, world, &result);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return result;
}

// Who is in an HPS_Init, by rank of comm.
struct Cast {
  std::set<int> cpu_only;
  int late = 0;  // comes when the first CPU-only rank has given up
};

int init(MPI_Comm comm, const Cast& cast, const std::string& timeout, MPI_Comm* workers) {
  const bool cpu_only = cast.cpu_only.contains(rank_in(comm));
  Settings settings = seat_settings({cpu_only, world_rank()});
  // A worker's time-out does not count.
  settings.emplace_back("hps_timeout", cpu_only ? timeout : "1");
  const Info info(settings);
  return HPS_Init(comm, info.get(), workers);
}

void finish_job(MPI_Comm workers) {
  if (workers == MPI_COMM_NULL) {
    HPS_EXPECT_OK(HPS_Serve());
  } else {
    check_allreduce<int>(workers, MPI_INT, "MPI_INT", {Op::sum, 10007, false, 0, 1});
    MPI_Comm_free(&workers);
  }
  HPS_EXPECT_OK(HPS_Finalize());
}

// An HPS_Init that all come to: it works, whatever is left over from before.
void check_works(MPI_Comm comm, const Cast& cast) {
  const Where where("all come");
  MPI_Comm workers = MPI_COMM_NULL;
  const int code = init(comm, cast, "0", &workers);
  HPS_EXPECT_OK(code);
  if (code == MPI_SUCCESS) finish_job(workers);
}

// All ranks have one error, and it names a CPU-only rank by its rank in MPI_COMM_WORLD.
void check_gave_up(MPI_Comm comm, const Cast& cast, int code, bool with_one_voice) {
  HPS_EXPECT(error_class(code) == MPI_ERR_OTHER,
             "class " + std::to_string(error_class(code)) + ": " + error_text(code));
  const std::string text = error_text(code);
  bool named = false;
  for (int rank : cast.cpu_only)
    named = named || text.find("rank " + std::to_string(rank_in_world(comm, rank)) + " is CPU-only and gave up") !=
                         std::string::npos;
  HPS_EXPECT(named && text.find("after 1 s (HPS_TIMEOUT)") != std::string::npos, "the error is " + text);
  if (!with_one_voice) return;
  std::vector<char> first(MPI_MAX_ERROR_STRING + 1, '\0');
  text.copy(first.data(), first.size() - 1);
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_CHAR, 0, comm);
  HPS_EXPECT(text == first.data(), text + " differs from rank 0's " + first.data());
}

// The late rank comes when it has word that the first CPU-only rank's HPS_Init has failed.
int init_with_late_rank(MPI_Comm comm, const Cast& cast) {
  MPI_Comm workers = MPI_COMM_SELF;
  if (rank_in(comm) == cast.late)
    MPI_Recv(nullptr, 0, MPI_INT, *cast.cpu_only.begin(), word_tag, comm, MPI_STATUS_IGNORE);
  const int code = init(comm, cast, "1", &workers);
  if (rank_in(comm) == *cast.cpu_only.begin()) MPI_Send(nullptr, 0, MPI_INT, cast.late, word_tag, comm);
  HPS_EXPECT(workers == MPI_COMM_SELF, "workers was written to");
  return code;
}

// One gives up, and then all come.
void test_gives_up(MPI_Comm comm, const Cast& cast) {
  const Where where("rank " + std::to_string(*cast.cpu_only.begin()) + " of " + std::to_string(size_of(comm)) +
                    " gives up, rank " + std::to_string(cast.late) + " is late");
  check_gave_up(comm, cast, init_with_late_rank(comm, cast), cast.cpu_only.size() == 1);
  check_works(comm, cast);
}

// Between giving up twice nobody waits for anybody: what is left of the first must not be taken for the second.
void test_gives_up_twice(MPI_Comm comm, const Cast& cast) {
  const Where where("rank " + std::to_string(*cast.cpu_only.begin()) + " gives up twice");
  MPI_Comm workers = MPI_COMM_NULL;
  const bool server = rank_in(comm) == *cast.cpu_only.begin();
  if (server) {
    for (int i = 0; i < 2; ++i) check_gave_up(comm, cast, init(comm, cast, "1", &workers), false);
    for (int rank = 0; rank < size_of(comm); ++rank) {
      if (rank != rank_in(comm)) MPI_Send(nullptr, 0, MPI_INT, rank, word_tag, comm);
    }
  } else {
    MPI_Recv(nullptr, 0, MPI_INT, *cast.cpu_only.begin(), word_tag, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; ++i) check_gave_up(comm, cast, init(comm, cast, "1", &workers), false);
  }
  check_works(comm, cast);
}

// The late rank comes as the others are giving up: whatever comes of it comes to all.
void test_race(MPI_Comm comm, const Cast& cast, int attempts) {
  int worked_often = 0;
  for (int i = 0; i < attempts; ++i) {
    const int offset_us = -1000 + 8000 * i / attempts;
    const Where where("late by 1 s and " + std::to_string(offset_us) + " us");
    MPI_Comm workers = MPI_COMM_NULL;
    MPI_Barrier(comm);
    if (rank_in(comm) == cast.late)
      compute_until(std::chrono::steady_clock::now() + std::chrono::microseconds(1'000'000 + offset_us));
    const int code = init(comm, cast, "1", &workers);
    int worked[] = {code == MPI_SUCCESS, code != MPI_SUCCESS};
    MPI_Allreduce(MPI_IN_PLACE, worked, 2, MPI_INT, MPI_SUM, comm);
    HPS_EXPECT(worked[0] == 0 || worked[1] == 0,
               "HPS_Init worked on " + std::to_string(worked[0]) + " ranks and failed on " + std::to_string(worked[1]));
    if (code != MPI_SUCCESS) continue;
    ++worked_often;
    if (workers != MPI_COMM_NULL) MPI_Comm_free(&workers);
    HPS_EXPECT_OK(HPS_Finalize());
  }
  if (rank_in(comm) == 0) std::printf("raced %d times, worked %d times\n", attempts, worked_often);
}

// An error elsewhere is told though a rank is late, and nobody who has an error gives up.
void test_wrong_rank_waits(MPI_Comm comm) {
  const Where where("a CPU-only rank has a wrong variable");
  const int last = size_of(comm) - 1;
  const Info info(rank_in(comm) == last ? Settings{{"hps_role", "cpu"}, {"hps_timeout", "1"}, {"hps_log", "loud"}}
                                        : Settings{{"hps_timeout", "1"}});
  if (rank_in(comm) == 0) compute_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(1500));
  MPI_Comm workers = MPI_COMM_NULL;
  const int code = HPS_Init(comm, info.get(), &workers);
  HPS_EXPECT(error_text(code).find("loud") != std::string::npos, "the error is " + error_text(code));
}

void test_all() {
  const int size = world_size();
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), &reversed);
  MPI_Comm_set_errhandler(reversed, MPI_ERRORS_RETURN);
  test_gives_up(MPI_COMM_WORLD, {{size - 1}, 0});
  test_gives_up(MPI_COMM_WORLD, {{0}, size - 1});
  test_gives_up(reversed, {{size - 1}, 0});
  if (size > 2) test_gives_up(reversed, {{1}, size - 1});
  if (size > 2) test_gives_up(MPI_COMM_WORLD, {{0, 1}, 2});
  test_gives_up_twice(MPI_COMM_WORLD, {{size - 1}});
  test_gives_up_twice(reversed, {{0}});
  test_race(MPI_COMM_WORLD, {{size - 1}, 0}, 3);
  test_race(MPI_COMM_WORLD, {{0}, size - 1}, 3);
  test_wrong_rank_waits(MPI_COMM_WORLD);
  check_works(MPI_COMM_WORLD, {{size - 1}});
  MPI_Comm_free(&reversed);
}

// What the ranks see they say before MPI_Finalize, after which mpirun may end them.
void test_beside_others(int seconds) {
  set_verdict_comm(MPI_COMM_SELF);
  if (seconds < 0) return;
  compute_until(std::chrono::steady_clock::now() + std::chrono::seconds(seconds));
  MPI_Comm workers = MPI_COMM_NULL;
  const int code = HPS_Init(MPI_COMM_WORLD, MPI_INFO_NULL, &workers);
  std::printf("rank %d: %s\n", world_rank(), code == MPI_SUCCESS ? "works" : error_text(code).c_str());
  std::fflush(stdout);
  if (code == MPI_SUCCESS) finish_job(workers);
}

}  // namespace
}  // namespace hps::test

int main(int argc, char** argv) {
  using namespace hps::test;
  const std::string_view part = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? std::atoi(argv[2]) : -1;
  return run(&argc, &argv, MPI_THREAD_SINGLE, [&] {
    if (part.empty())
      test_all();
    else if (part == "race")
      test_race(MPI_COMM_WORLD, {{world_size() - 1}, 1 % world_size()}, number);
    else
      test_beside_others(part == "late" ? number : -1);
  });
}
