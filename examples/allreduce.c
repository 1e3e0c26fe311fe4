/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The smallest whole program: every worker contributes a vector and gets the sum. README.md quotes it.
 */
#include <hps.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Comm workers;
  MPI_Init(&argc, &argv);
  HPS_Init(MPI_COMM_WORLD, MPI_INFO_NULL, &workers);
  if (workers == MPI_COMM_NULL) {
    HPS_Serve(); /* a CPU-only rank: sums until the workers are done */
  } else {
    int rank;
    MPI_Comm_rank(workers, &rank);
    float gradient[3] = {1, 10, (float)rank}, sum[3];
    HPS_Allreduce_hetero(gradient, sum, 3, MPI_FLOAT, MPI_SUM, workers);
    if (rank == 0) printf("sum: %g %g %g\n", sum[0], sum[1], sum[2]);
    MPI_Comm_free(&workers);
  }
  HPS_Finalize();
  MPI_Finalize();
  return 0;
}
