// SPDX-License-Identifier: BSD-3-Clause
// What the MPI tests share: checks that say rank, what and where; a verdict that all ranks agree on; guarded buffers.
//
// A test is a plain MPI program whose main() returns run(...). A check that fails is counted and printed, and the test
// goes on: a rank that stopped would leave the others waiting. A step that takes minutes is a hang: the rank says where
// it stands and ends the job.
#ifndef HPS_TESTS_MPI_HARNESS_H
#define HPS_TESTS_MPI_HARNESS_H

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace hps::test {

// Initialises MPI, runs `body`, and returns the exit status that all ranks of the verdict communicator have agreed on:
// 0 passed, 1 failed, 77 skipped. Errors of MPI_COMM_WORLD are returned, not fatal.
int run(int* argc, char*** argv, int thread_level, const std::function<void()>& body);
// The ranks that agree on the verdict; MPI_COMM_WORLD unless other programs are in the job.
void set_verdict_comm(MPI_Comm comm);
// The test cannot be made here; `why` is printed once. All ranks must say so.
void skip(const std::string& why);

int world_rank();  // -1 where MPI is not usable
int world_size();
int failures();  // of this rank so far

// Names what is being tested while it lives; printed with every failure. Every thread has its own.
class Where {
 public:
  explicit Where(const std::string& what);
  ~Where();
  Where(const Where&) = delete;
  Where& operator=(const Where&) = delete;

 private:
  std::size_t before_;
};

// This step may take any time: it waits for others, who have a limit.
void lift_limit();

void fail(const char* file, int line, const std::string& what);
// `what` is evaluated only where the condition does not hold.
#define HPS_EXPECT(condition, what) ((condition) ? void() : ::hps::test::fail(__FILE__, __LINE__, what))
#define HPS_EXPECT_OK(call) ::hps::test::expect_ok(__FILE__, __LINE__, #call, call)
void expect_ok(const char* file, int line, const char* call, int code);

int error_class(int code);
std::string error_text(int code);

// `bytes` bytes that start `offset` bytes after a boundary of 64, between guards.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::size_t bytes, std::size_t offset = 0);

  void* data() noexcept { return begin_; }
  const void* data() const noexcept { return begin_; }
  template <class T>
  void fill_from(const std::vector<T>& values) {
    copy_in(values.data(), values.size() * sizeof(T));
  }
  // Whether the bytes between the guards are `expected`, bit for bit.
  bool holds(const void* expected) const noexcept;
  bool untouched() const noexcept;  // as the constructor left them
  bool guards_intact() const noexcept;

 private:
  void copy_in(const void* from, std::size_t bytes) noexcept;

  std::vector<std::byte> memory_;
  std::byte* begin_;
  std::size_t bytes_;
};

}  // namespace hps::test

#endif
