// SPDX-License-Identifier: BSD-3-Clause
// A job that loses a rank; killed_test and cut_test start it and say what is to happen. What every rank sees it writes
// to a file, for MPI is of no use to those who are left:
//
//     doomed_job FOLDER WORKERS VICTIM kill|stop|exit|abort|wait|cut|survive COUNT
//
// The first WORKERS ranks are workers, each a node of its own, and the others serve. Once all are under way the victim,
// if it is a worker, sends itself SIGKILL or SIGSTOP in the midst of a call. It may wait for FOLDER/now: with `exit` it
// then ends, without a goodbye to HPS or MPI, instead of making a call; a CPU-only victim does so instead of serving;
// with `abort` another thread of it calls MPI_Abort in the midst of a call. With `wait` the script sees to it, with
// `cut` to the end of the victim's link: it lives on and loses the others. With `survive` no call may fail, until
// FOLDER/enough is there. A rank writes FOLDER/pid.RANK first, rank 0 FOLDER/going when the sequence has begun, and
// each that is left FOLDER/verdict.RANK: "ok", or what was wrong; with `survive` each worker FOLDER/longest.RANK, the
// seconds of its longest call.
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "harness.h"
#include "hps.h"
#include "jobs.h"

namespace hps::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int doomed_call = 20;
constexpr suseconds_t into_the_call_us = 1500;
constexpr std::chrono::seconds patience(60);  // for a rank that is not lost at all
constexpr double killing_seconds = 10;
constexpr double stopping_seconds = 3 + 5;  // HPS_TIMEOUT and a few

struct Plot {
  std::string folder;
  int workers = 0;
  int victim = 0;
  std::string_view how;
  int count = 0;

  bool falls_silent() const { return how == "stop" || how == "cut"; }
};

std::string complaints;
volatile std::sig_atomic_t own_end = SIGKILL;

void complain(const std::string& what) { complaints += what + "\n"; }

// Whole from the first moment on.
void write_file(const Plot& plot, const std::string& name, const std::string& text) {
  const std::string path = plot.folder + "/" + name;
  std::ofstream(path + ".new") << text << "\n";
  std::rename((path + ".new").c_str(), path.c_str());
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// One that is cut off has lost others, and says so; where it is still heard, they may know it from there.
bool names_lost(const Plot& plot, const std::string& text) {
  const bool names_lost = text.find("lost rank " + std::to_string(plot.victim) + ":") != std::string::npos;
  const std::string by_victim = "has not answered rank " + std::to_string(plot.victim) + " ";
  return names_lost || (plot.how == "cut" && text.find(by_victim) != std::string::npos);
}

// An error of a call that has taken `seconds`: it must name the victim, and come in time.
void check_error(const Plot& plot, const char* call, int code, double seconds) {
  const std::string text = error_text(code);
  const std::string told = std::string(call) + " after " + std::to_string(seconds) + " s: '" + text + "'";
  const bool silent = plot.falls_silent();
  if (code == MPI_SUCCESS) return complain(std::string(call) + " succeeded though a rank is lost");
  if (error_class(code) != MPI_ERR_OTHER) complain(told + " has class " + std::to_string(error_class(code)));
  if (!names_lost(plot, text)) complain(told + " does not name the rank");
  if (silent && text.find("has not answered") == std::string::npos) complain(told + " does not say why");
  if (seconds > (silent ? stopping_seconds : killing_seconds)) complain(told + " came late");
}

bool is_doomed(const Plot& plot, int rank, int call) {
  if (rank != plot.victim) return false;
  if (plot.how == "abort" || plot.how == "exit") return access((plot.folder + "/now").c_str(), F_OK) == 0;
  return call == doomed_call && (plot.how == "kill" || plot.how == "stop");
}

// As the timer does for signals: the pause is the time into the call, and nothing depends on its length.
void abort_in_a_moment() {
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::microseconds(into_the_call_us));
    MPI_Abort(MPI_COMM_WORLD, 3);
  }).detach();
}

void end_in_a_moment(const Plot& plot) {
  if (plot.how == "exit") std::exit(0);
  if (plot.how == "abort") return abort_in_a_moment();
  own_end = plot.how == "stop" ? SIGSTOP : SIGKILL;
  std::signal(SIGALRM, [](int) { kill(getpid(), own_end); });
  const itimerval timer = {{0, 0}, {0, into_the_call_us}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

int sum(MPI_Comm comm, std::vector<int>* values) {
  return HPS_Allreduce_hetero(MPI_IN_PLACE, values->data(), static_cast<int>(values->size()), MPI_INT, MPI_MAX, comm);
}

void check_values(const std::vector<int>& values, int right) {
  for (int value : values) {
    if (value != right) return complain("a result is " + std::to_string(value) + " and not " + std::to_string(right));
  }
}

// Calls until one fails. All workers have connections with all owners before: the first call is long.
void call_until_lost(const Plot& plot, MPI_Comm comm, int rank) {
  const auto begin = Clock::now();
  bool is_ending = false;
  for (int call = 0; seconds_since(begin) < patience.count(); ++call) {
    std::vector<int> values(static_cast<std::size_t>(call == 0 ? 300007 : plot.count), rank + call);
    if (rank == 0 && call == doomed_call) write_file(plot, "going", "");
    if (!is_ending && is_doomed(plot, rank, call)) {
      is_ending = true;
      end_in_a_moment(plot);
    }
    const auto start = Clock::now();
    const int code = sum(comm, &values);
    if (code != MPI_SUCCESS) return check_error(plot, "HPS_Allreduce_hetero", code, seconds_since(start));
    check_values(values, plot.workers - 1 + call);
  }
  complain("no call failed");
}

bool is_enough(const Plot& plot) { return std::ifstream(plot.folder + "/enough").good(); }

// Calls until rank 0 is told that it is enough; none may fail.
void call_on(const Plot& plot, MPI_Comm comm, int rank) {
  double longest = 0;
  bool goes_on = true;
  for (int call = 0; goes_on; ++call) {
    std::vector<int> values(static_cast<std::size_t>(plot.count), rank + call);
    std::vector<int> more = {rank == 0 && !is_enough(plot)};
    if (rank == 0 && call == doomed_call) write_file(plot, "going", "");
    const auto start = Clock::now();
    for (auto* operands : {&values, &more}) {
      if (const int code = sum(comm, operands); code != MPI_SUCCESS)
        return complain("a call failed: " + error_text(code));
    }
    longest = std::max(longest, seconds_since(start));
    check_values(values, plot.workers - 1 + call);
    goes_on = more.front() != 0;
  }
  write_file(plot, "longest." + std::to_string(rank), std::to_string(longest));
}

void work(const Plot& plot, MPI_Comm comm, int rank) {
  if (plot.how == "survive") return call_on(plot, comm, rank);
  call_until_lost(plot, comm, rank);
  std::vector<int> values(static_cast<std::size_t>(plot.count), rank);
  const auto start = Clock::now();
  const int code = sum(comm, &values);
  check_error(plot, "the next HPS_Allreduce_hetero", code, seconds_since(start));
}

void finalize(const Plot& plot) {
  const auto start = Clock::now();
  const int code = HPS_Finalize();
  if (plot.how == "survive" && code != MPI_SUCCESS) complain("HPS_Finalize: " + error_text(code));
  if (plot.how != "survive") check_error(plot, "HPS_Finalize", code, seconds_since(start));
  int flag = -1;
  if (HPS_Initialized(&flag) != MPI_SUCCESS || flag != 0) complain("HPS is said to be initialised after HPS_Finalize");
}

void take_part(const Plot& plot) {
  const int rank = world_rank();
  write_file(plot, "pid." + std::to_string(rank), std::to_string(getpid()));
  const Info info(seat_settings({rank >= plot.workers, rank}));
  MPI_Comm comm = MPI_COMM_NULL;
  if (HPS_Init(MPI_COMM_WORLD, info.get(), &comm) != MPI_SUCCESS) return complain("HPS_Init failed");
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    work(plot, comm, rank);
  } else if (plot.how == "exit" && rank == plot.victim) {
    std::exit(0);
  } else if (const int code = HPS_Serve(); code != MPI_SUCCESS) {
    complain("HPS_Serve: " + error_text(code));
  }
  finalize(plot);
}

}  // namespace
}  // namespace hps::test

int main(int argc, char** argv) {
  using namespace hps::test;
  if (argc != 6) return 2;
  const Plot plot = {argv[1], std::atoi(argv[2]), std::atoi(argv[3]), argv[4], std::atoi(argv[5])};
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, plot.how == "abort" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  take_part(plot);
  write_file(plot, "verdict." + std::to_string(world_rank()), complaints.empty() ? "ok" : complaints);
  // MPI_Finalize would wait for the one that is lost.
  _exit(complaints.empty() ? 0 : 1);
}
