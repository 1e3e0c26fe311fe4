/* SPDX-License-Identifier: BSD-3-Clause
 * A program as a user of the installed library would write it, in C99 and C++ alike: the workers sum a vector and look
 * at every element. tests/install/check-installed builds and runs it. */
#include <hps.h>
#include <stdio.h>

enum { count = 1000 };

static int wrong_version(void) {
  int major = -1, minor = -1, patch = -1;
  HPS_Get_version(&major, &minor, &patch);
  if (major == HPS_VERSION_MAJOR && minor == HPS_VERSION_MINOR && patch == HPS_VERSION_PATCH) return 0;
  fprintf(stderr, "hps.h is %s, libhps is %d.%d.%d\n", HPS_VERSION, major, minor, patch);
  return 1;
}

static int wrong_sum(MPI_Comm workers) {
  int rank = 0, size = 0, wrong = 0;
  double values[count];
  MPI_Comm_rank(workers, &rank);
  MPI_Comm_size(workers, &size);
  for (int i = 0; i < count; i++) values[i] = i + rank;
  if (HPS_Allreduce_hetero(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, workers) != MPI_SUCCESS) return 1;
  for (int i = 0; i < count; i++) wrong += values[i] != size * i + size * (size - 1) / 2;
  if (wrong > 0) fprintf(stderr, "worker %d of %d: %d of %d sums are wrong\n", rank, size, wrong, (int)count);
  return wrong > 0;
}

int main(int argc, char** argv) {
  int failed = 0, any_failed = 0;
  MPI_Comm workers = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  HPS_Init(MPI_COMM_WORLD, MPI_INFO_NULL, &workers);
  failed = wrong_version() || wrong_sum(workers);
  MPI_Allreduce(&failed, &any_failed, 1, MPI_INT, MPI_MAX, workers);
  HPS_Finalize();
  MPI_Finalize();
  return any_failed;
}
