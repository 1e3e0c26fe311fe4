// SPDX-License-Identifier: BSD-3-Clause
#include "harness.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace hps::test {
namespace {

constexpr int passed = 0;
constexpr int failed = 1;
constexpr int skipped = 77;

constexpr unsigned step_seconds = 100;  // no step takes so long, on a busy machine either
constexpr int printed_failures = 20;
constexpr std::size_t guard_bytes = 64;
constexpr std::byte guard{0xa5};
constexpr std::byte unwritten{0x5c};

std::atomic<int> failure_count = 0;
bool test_skipped = false;
MPI_Comm verdict_comm = MPI_COMM_WORLD;
thread_local std::string where;
std::mutex hang_message_mutex;  // between threads of the test
char hang_message[1024];        // kept ready, for a signal handler may not allocate

void say_where_it_hangs(int) {
  if (write(STDERR_FILENO, hang_message, std::strlen(hang_message)) < 0) _exit(failed);
  _exit(failed);
}

// The steps of other threads count as progress too.
void begin_step() {
  const std::lock_guard<std::mutex> lock(hang_message_mutex);
  std::snprintf(hang_message, sizeof hang_message, "rank %d: no progress for %u s at: %s\n", world_rank(), step_seconds,
                where.c_str());
  alarm(step_seconds);
}

int agree(int mine) {
  int all = failed;
  if (MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, verdict_comm) != MPI_SUCCESS) return failed;
  return all;
}

}  // namespace

int run(int* argc, char*** argv, int thread_level, const std::function<void()>& body) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(argc, argv, thread_level, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  std::signal(SIGALRM, say_where_it_hangs);
  {
    const Where start("start");
    if (provided < thread_level)
      skip("MPI does not give the thread support that the test needs");
    else
      body();
  }
  // Failed is told from skipped before the maximum is taken: 77 is more than 1.
  const bool any_failed = agree(failure_count != 0 ? failed : passed) != passed;
  const Where end("MPI_Finalize");
  MPI_Finalize();
  if (any_failed) return failed;
  return test_skipped ? skipped : passed;
}

void set_verdict_comm(MPI_Comm comm) { verdict_comm = comm; }

void skip(const std::string& why) {
  test_skipped = true;
  if (world_rank() == 0) std::printf("skipped: %s\n", why.c_str());
}

int world_rank() {
  int initialized = 0;
  int finalized = 0;
  int rank = -1;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized && !finalized) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

int failures() { return failure_count; }

Where::Where(const std::string& what) : before_(where.size()) {
  if (!where.empty()) where += ", ";
  where += what;
  begin_step();
}

Where::~Where() { where.resize(before_); }

void lift_limit() { alarm(0); }

void fail(const char* file, int line, const std::string& what) {
  const int before = failure_count++;
  if (before >= printed_failures) return;
  std::fprintf(stderr, "rank %d: %s:%d: %s (%s)\n", world_rank(), file, line, what.c_str(), where.c_str());
  if (before + 1 == printed_failures) std::fprintf(stderr, "rank %d: further failures are not shown\n", world_rank());
}

void expect_ok(const char* file, int line, const char* call, int code) {
  if (code != MPI_SUCCESS) fail(file, line, std::string(call) + ": " + error_text(code));
}

int error_class(int code) {
  int result = MPI_ERR_UNKNOWN;
  MPI_Error_class(code, &result);
  return result;
}

std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

GuardedBuffer::GuardedBuffer(std::size_t bytes, std::size_t offset)
    : memory_(bytes + offset + 3 * guard_bytes, guard), bytes_(bytes) {
  const std::size_t past = reinterpret_cast<std::uintptr_t>(memory_.data()) % guard_bytes;
  begin_ = memory_.data() + (past == 0 ? guard_bytes : 2 * guard_bytes - past) + offset;
  std::fill_n(begin_, bytes_, unwritten);
}

void GuardedBuffer::copy_in(const void* from, std::size_t bytes) noexcept {
  if (bytes != 0) std::memcpy(begin_, from, std::min(bytes, bytes_));
}

bool GuardedBuffer::holds(const void* expected) const noexcept {
  return bytes_ == 0 || std::memcmp(begin_, expected, bytes_) == 0;
}

bool GuardedBuffer::untouched() const noexcept {
  return std::all_of(begin_, begin_ + bytes_, [](std::byte one) { return one == unwritten; });
}

bool GuardedBuffer::guards_intact() const noexcept {
  const auto is_guard = [](std::byte one) { return one == guard; };
  const std::byte* first = memory_.data();
  return std::all_of(first, static_cast<const std::byte*>(begin_), is_guard) &&
         std::all_of(static_cast<const std::byte*>(begin_) + bytes_, first + memory_.size(), is_guard);
}

}  // namespace hps::test
