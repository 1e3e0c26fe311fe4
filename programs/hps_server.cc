// SPDX-License-Identifier: BSD-3-Clause
// hps_server: the CPU-only half of a job, ready made.
//
//     mpirun -n 8 ./train : -n 4 hps_server
//
// It joins the job as a CPU-only rank, sums until the workers are done, and exits: 0, or 1 where it could not serve.
#include <mpi.h>

#include <cstdlib>

#include "common/command_line.h"
#include "common/mpi_program.h"
#include "common/program_name.h"
#include "hps.h"

const char hps::program_name[] = "hps_server";

namespace {

constexpr char help[] =
    "usage: mpirun -n WORKERS PROGRAM : -n CPU-ONLY-RANKS hps_server\n"
    "\n"
    "Runs a CPU-only rank of an HPS job: it sums for the workers until they are done.\n"
    "It has no options but these, and is configured by HPS_* variables: see hps(7).\n"
    "\n"
    "  -h, --help     show this text\n"
    "  -V, --version  show the version\n";

// The role goes by info key, which overrides an HPS_ROLE that mpirun passes to every rank of the job.
int init_as_cpu_only() {
  MPI_Info info = MPI_INFO_NULL;
  int error = MPI_Info_create(&info);
  if (error == MPI_SUCCESS) error = MPI_Info_set(info, "hps_role", "cpu");
  if (error == MPI_SUCCESS) error = HPS_Init(MPI_COMM_WORLD, info, nullptr);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  return error;
}

// After a loss. Nobody waits for this rank any more, and workers may be saving what they have: they are not aborted.
// MPI_Finalize would wait for who is lost.
[[noreturn]] void leave_without_mpi(int error) {
  hps::report_mpi_error("HPS_Finalize", error);
  std::_Exit(1);
}

// The exit code. HPS_Init fails on all ranks or on none, so the job can end in order. Once it has succeeded, one that
// cannot serve may leave others waiting, and only an abort is sure to end.
int serve() {
  if (const int error = init_as_cpu_only(); error != MPI_SUCCESS) {
    hps::report_mpi_error("HPS_Init", error);
    return 1;
  }
  hps::must("HPS_Serve", HPS_Serve());
  if (const int error = HPS_Finalize(); error != MPI_SUCCESS) leave_without_mpi(error);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return hps::answer_argument(argc, argv, help);
  // The most that MPI offers is asked for, but HPS_Serve needs no more than one thread in MPI.
  return hps::run_mpi_program(argc, argv, MPI_THREAD_MULTIPLE, serve);
}
