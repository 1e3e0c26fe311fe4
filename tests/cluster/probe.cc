// SPDX-License-Identifier: BSD-3-Clause
//
// What a job sees of the cluster it runs on, for cluster_test.sh to compare with what was asked for.
//
//     probe            one line a rank: host name, ranks that share its memory, HPS_ROLE, HPS_LINK_RATE, PROBE
//     probe FROM TO    Mbit/s of one long message from rank FROM to rank TO
//     probe FROM TO MOST    of the first message of many that comes no faster than MOST Mbit/s
#include <mpi.h>

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int line_bytes = 256;
constexpr int message_bytes = 1 << 20;
constexpr int most_messages = 200;

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "-" : value;
}

void print_ranks(int rank, int ranks) {
  MPI_Comm node = MPI_COMM_NULL;
  int node_ranks = 0, length = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &node_ranks);
  MPI_Comm_free(&node);
  char host[MPI_MAX_PROCESSOR_NAME];
  MPI_Get_processor_name(host, &length);

  char line[line_bytes];
  std::snprintf(line, sizeof line, "%.64s %d %.32s %.32s %.32s", host, node_ranks, variable("HPS_ROLE"),
                variable("HPS_LINK_RATE"), variable("PROBE"));
  std::vector<char> lines(static_cast<std::size_t>(ranks) * line_bytes);
  MPI_Gather(line, line_bytes, MPI_CHAR, lines.data(), line_bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < ranks; ++i) std::puts(lines.data() + static_cast<std::ptrdiff_t>(i) * line_bytes);
}

// The rank `from` gets the figure, the others 0.
double measure_link(int rank, int from, int to) {
  std::vector<char> message(message_bytes);
  char answer = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == to) {
    MPI_Recv(message.data(), message_bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&answer, 1, MPI_CHAR, from, 0, MPI_COMM_WORLD);
  }
  if (rank != from) return 0;
  const double start = MPI_Wtime();
  MPI_Send(message.data(), message_bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD);
  MPI_Recv(&answer, 1, MPI_CHAR, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return message_bytes * 8e-6 / (MPI_Wtime() - start);
}

void measure_until(int rank, int from, int to, double most) {
  double rate = HUGE_VAL;
  for (int i = 0; i < most_messages && rate > most; ++i) {
    rate = measure_link(rank, from, to);
    MPI_Bcast(&rate, 1, MPI_DOUBLE, from, MPI_COMM_WORLD);
  }
  if (rank == from) std::printf("%.1f\n", rate);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc >= 3)
    measure_until(rank, std::atoi(argv[1]), std::atoi(argv[2]), argc == 4 ? std::atof(argv[3]) : DBL_MAX);
  else
    print_ranks(rank, ranks);
  MPI_Finalize();
  return 0;
}
