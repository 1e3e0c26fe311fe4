// SPDX-License-Identifier: BSD-3-Clause
// HPS_Allreduce_hetero's conformance: every datatype by every name, with every operation that MPI defines on it, with
// no element, one, a prime number of them and many, in place and not, at even and odd addresses, for every number of
// workers; also where the caller rounds upwards and flushes denormals, which must change nothing and come back. Against
// a serial reference, bit for bit.
#include <cfenv>
#include <limits>
#include <string>
#include <type_traits>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "harness.h"
#include "hps.h"
#include "jobs.h"
#include "oracle.h"

namespace hps::test {
namespace {

// As programs set it for speed (-ffast-math), and for interval arithmetic.
class UnusualMode {
 public:
  UnusualMode() {
    std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | flush);
#endif
  }
  ~UnusualMode() { std::fesetenv(FE_DFL_ENV); }
  UnusualMode(const UnusualMode&) = delete;
  UnusualMode& operator=(const UnusualMode&) = delete;

  bool is_set() const {
#if defined(__x86_64__)
    if ((_mm_getcsr() & flush) != flush) return false;
#endif
    return std::fegetround() == FE_UPWARD;
  }

 private:
  static constexpr unsigned flush = 0x8040;  // FTZ and DAZ
};

constexpr int counts[] = {0, 1, 101, 8009};
constexpr std::size_t offsets[] = {0, 3};

std::uint64_t seed = 0;  // of the next call: the same on every worker of a job

// Denormals and halves of the last place, which another mode would round or flush.
template <class T>
void check_mode(MPI_Comm workers, const NamedType& type) {
  const Where where(std::string("mode, ") + type.name);
  using Limits = std::numeric_limits<T>;
  int size = 0;
  MPI_Comm_size(workers, &size);
  int rank = 0;
  MPI_Comm_rank(workers, &rank);
  const T own[] = {Limits::denorm_min(), rank == 0 ? T{1} : Limits::epsilon() / 64};
  GuardedBuffer receive(sizeof own);
  int code = MPI_SUCCESS;
  bool kept = false;
  {
    const UnusualMode mode;
    code = HPS_Allreduce_hetero(own, receive.data(), 2, type.mpi, MPI_SUM, workers);
    kept = mode.is_set();
  }
  HPS_EXPECT_OK(code);
  HPS_EXPECT(kept, "the caller's mode did not come back");
  const std::vector<T> right = {static_cast<T>(size) * Limits::denorm_min(), T{1}};
  const std::string difference = first_difference(receive.data(), right, Op::sum);
  HPS_EXPECT(difference.empty(), difference);
}

void test_conformance(MPI_Comm workers) {
  seed = 0;
  for_each_type([&]<class T>(const NamedType& type) {
    for (Op op : reference::all_ops) {
      if (!type.supports(op)) continue;
      for (int count : counts) {
        for (bool in_place : {false, true}) {
          for (std::size_t offset : offsets)
            check_allreduce<T>(workers, type.mpi, type.name, {op, count, in_place, offset, ++seed});
        }
      }
    }
    if constexpr (std::is_floating_point_v<T>) check_mode<T>(workers, type);
  });
}

void test_all() {
  for (int workers = 1; workers <= world_size(); ++workers)
    run_job(own_nodes(world_size(), workers), {}, [&](MPI_Comm comm) { test_conformance(comm); });
}

}  // namespace
}  // namespace hps::test

int main(int argc, char** argv) { return hps::test::run(&argc, &argv, MPI_THREAD_SINGLE, hps::test::test_all); }
