// SPDX-License-Identifier: BSD-3-Clause
//
// What a job sees of the cluster it runs on, for cluster_test.sh to compare with what was asked for.
//
//     probe            one line a rank: host name, ranks that share its memory, HPS_ROLE, HPS_LINK_RATE, PROBE
//     probe FROM TO    Mbit/s of one long message from rank FROM to rank TO
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int line_bytes = 256;
constexpr int message_bytes = 1 << 20;

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

void measure_link(int rank, int from, int to) {
  std::vector<char> message(message_bytes);
  char answer = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == to) {
    MPI_Recv(message.data(), message_bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&answer, 1, MPI_CHAR, from, 0, MPI_COMM_WORLD);
  }
  if (rank != from) return;
  const double start = MPI_Wtime();
  MPI_Send(message.data(), message_bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD);
  MPI_Recv(&answer, 1, MPI_CHAR, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::printf("%.1f\n", message_bytes * 8e-6 / (MPI_Wtime() - start));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc == 3)
    measure_link(rank, std::atoi(argv[1]), std::atoi(argv[2]));
  else
    print_ranks(rank, ranks);
  MPI_Finalize();
  return 0;
}
