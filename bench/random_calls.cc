// SPDX-License-Identifier: BSD-3-Clause
// random_calls SECONDS SEED: a day of work in little. Workers make communicators and free them, and call
// HPS_Allreduce_hetero on them with whatever the seed says: datatype, operation, 1 element to 4 MB, in place or not.
// Every result is checked. CPU-only ranks (hps_server) serve. Exits 1 where a result is wrong.
//
//   mpirun -n 4 bench/random_calls 60 1 : -n 2 hps_server
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "hps.h"
#include "util/random.h"

namespace {

constexpr std::size_t most_comms = 6;         // at once, with the first
constexpr std::uint64_t most_doublings = 19;  // of 8 bytes: 4 MB
constexpr int calls_a_look = 16;              // rank 0 looks at the clock so often

struct Totals {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t wrong = 0;
  std::uint64_t comms = 0;
};

void must(const char* what, int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  std::fprintf(stderr, "random_calls: %s: %s\n", what, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Small whole numbers, so that sums are exact in every datatype and order.
int element(int rank, std::uint64_t i, std::uint64_t call) {
  return static_cast<int>((static_cast<std::uint64_t>(rank) * 7 + i * 13 + call * 5) % 11);
}

template <class T>
class Call {
 public:
  Call(MPI_Comm comm, std::uint64_t number) : comm_(comm), number_(number) {
    MPI_Comm_size(comm, &size_);
    MPI_Comm_rank(comm, &rank_);
  }

  // How many elements are wrong.
  std::uint64_t run(MPI_Datatype type, bool maximum, bool in_place, std::size_t count) const {
    std::vector<T> send(count);
    std::vector<T> receive(in_place ? 0 : count);
    for (std::size_t i = 0; i < count; ++i) send[i] = static_cast<T>(element(rank_, i, number_));
    must("HPS_Allreduce_hetero",
         HPS_Allreduce_hetero(in_place ? MPI_IN_PLACE : send.data(), in_place ? send.data() : receive.data(),
                              static_cast<int>(count), type, maximum ? MPI_MAX : MPI_SUM, comm_));
    return wrong(in_place ? send : receive, maximum);
  }

 private:
  std::uint64_t wrong(const std::vector<T>& result, bool maximum) const {
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      int right = 0;
      for (int rank = 0; rank < size_; ++rank) {
        const int one = element(rank, i, number_);
        right = maximum ? std::max(right, one) : right + one;
      }
      wrong += result[i] != static_cast<T>(right);
    }
    return wrong;
  }

  MPI_Comm comm_;
  std::uint64_t number_;
  int size_ = 0;
  int rank_ = 0;
};

// All ranks throw the same dice, so that they do the same.
class Player {
 public:
  Player(MPI_Comm workers, std::uint64_t seed) : random_(seed), comms_{workers} { MPI_Comm_rank(workers, &rank_); }
  ~Player() {
    while (comms_.size() > 1) free_comm(1);
  }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  void play() {
    const std::uint64_t dice = random_.up_to(19);
    if (dice == 0 && comms_.size() < most_comms)
      make_comm();
    else if (dice == 1 && comms_.size() > 1)
      free_comm(1 + random_.up_to(comms_.size() - 2));
    else
      call();
  }
  const Totals& totals() const noexcept { return totals_; }

 private:
  // The workers in two halves, at random, or all of them in another order.
  void make_comm() {
    const std::uint64_t places = random_.next();
    const int color = random_.up_to(1) == 0 ? 0 : static_cast<int>(places >> (rank_ % 64) & 1);
    MPI_Comm made = MPI_COMM_NULL;
    must("MPI_Comm_split", MPI_Comm_split(comms_.front(), color, static_cast<int>(places % 97) * rank_ % 31, &made));
    comms_.push_back(made);
    ++totals_.comms;
  }
  void free_comm(std::size_t at) {
    MPI_Comm_free(&comms_[at]);
    comms_.erase(comms_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void call() {
    const MPI_Comm comm = comms_[random_.up_to(comms_.size() - 1)];
    const std::uint64_t type = random_.up_to(2);
    const bool maximum = random_.up_to(2) == 0;
    const bool in_place = random_.up_to(1) == 0;
    const auto bytes = std::uint64_t{8} << random_.up_to(most_doublings);
    const std::size_t count = 1 + random_.up_to(bytes / 8 - 1);
    ++totals_.calls;
    totals_.bytes += count * 8;
    if (type == 0) totals_.wrong += Call<double>(comm, totals_.calls).run(MPI_DOUBLE, maximum, in_place, count);
    if (type == 1) totals_.wrong += Call<float>(comm, totals_.calls).run(MPI_FLOAT, maximum, in_place, 2 * count);
    if (type == 2)
      totals_.wrong += Call<std::int32_t>(comm, totals_.calls).run(MPI_INT32_T, maximum, in_place, 2 * count);
  }

  hps::Random random_;
  std::vector<MPI_Comm> comms_;
  int rank_ = 0;
  Totals totals_;
};

Totals work(MPI_Comm workers, double seconds, std::uint64_t seed) {
  Player player(workers, seed);
  const double end = MPI_Wtime() + seconds;
  int goes_on = 1;
  while (goes_on) {
    for (int i = 0; i < calls_a_look; ++i) player.play();
    goes_on = MPI_Wtime() < end;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, workers);
  }
  return player.totals();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double seconds = argc == 3 ? std::atof(argv[1]) : 0;
  if (seconds <= 0) {
    std::fprintf(stderr, "usage: random_calls SECONDS SEED\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Comm workers = MPI_COMM_NULL;
  must("HPS_Init", HPS_Init(MPI_COMM_WORLD, MPI_INFO_NULL, &workers));
  if (workers == MPI_COMM_NULL) {
    std::fprintf(stderr, "random_calls: it is for workers; CPU-only ranks run hps_server\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const Totals totals = work(workers, seconds, std::strtoull(argv[2], nullptr, 10));
  unsigned long long wrong = totals.wrong;
  int rank = 0;
  MPI_Comm_rank(workers, &rank);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, workers);
  if (rank == 0)
    std::printf("%llu calls, %.1f GB a rank, %llu communicators made; %llu elements wrong\n",
                static_cast<unsigned long long>(totals.calls), static_cast<double>(totals.bytes) / 1e9,
                static_cast<unsigned long long>(totals.comms), wrong);
  MPI_Comm_free(&workers);
  HPS_Finalize();
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
