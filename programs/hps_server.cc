// SPDX-License-Identifier: BSD-3-Clause
// hps_server: the CPU-only half of a job, ready made.
//
//     mpirun -n 8 ./train : -n 4 hps_server
//
// It joins the job as a CPU-only rank, sums until the workers are done, and exits: 0, or 1 where it could not serve.
#include <mpi.h>

#include <cstdio>
#include <string_view>

#include "common/mpi_error.h"
#include "common/wait_policy.h"
#include "hps.h"

namespace {

constexpr char program[] = "hps_server";

constexpr char help[] =
    "usage: mpirun -n WORKERS PROGRAM : -n CPU-ONLY-RANKS hps_server\n"
    "\n"
    "Runs a CPU-only rank of an HPS job: it sums for the workers until they are done.\n"
    "It has no options but these, and is configured by HPS_* variables: see hps(7).\n"
    "\n"
    "  -h, --help     show this text\n"
    "  -V, --version  show the version\n";

// Answers the command line; true where the program should go on and serve, else *exit_code is set.
bool serve_is_wanted(int argc, char** argv, int* exit_code) {
  if (argc == 1) return true;
  const std::string_view argument = argv[1];
  *exit_code = 0;
  if (argc == 2 && (argument == "-h" || argument == "--help")) {
    std::fputs(help, stdout);
  } else if (argc == 2 && (argument == "-V" || argument == "--version")) {
    int major = 0, minor = 0, patch = 0;
    HPS_Get_version(&major, &minor, &patch);
    std::printf("%s (HPS) %d.%d.%d\n", program, major, minor, patch);
  } else {
    std::fprintf(stderr, "%s: unexpected argument %s; see %s --help\n", program, argv[argc - 1], program);
    *exit_code = 1;
  }
  return false;
}

// The role goes by info key, which overrides an HPS_ROLE that mpirun passes to every rank of the job.
int init_as_cpu_only() {
  MPI_Info info = MPI_INFO_NULL;
  int error = MPI_Info_create(&info);
  if (error == MPI_SUCCESS) error = MPI_Info_set(info, "hps_role", "cpu");
  if (error == MPI_SUCCESS) error = HPS_Init(MPI_COMM_WORLD, info, nullptr);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  return error;
}

// HPS_Init fails on all ranks or on none, so the job can end in order. Once it has succeeded a failure may leave others
// waiting, and only an abort is sure to end.
bool serve() {
  if (const int error = init_as_cpu_only(); error != MPI_SUCCESS) {
    hps::report_mpi_error(program, "HPS_Init", error);
    return false;
  }
  hps::abort_on_error(program, "HPS_Serve", HPS_Serve());
  hps::abort_on_error(program, "HPS_Finalize", HPS_Finalize());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int exit_code = 0;
  if (!serve_is_wanted(argc, argv, &exit_code)) return exit_code;
  hps::use_passive_wait_policy(argv);

  // The most that MPI offers is asked for, but HPS_Serve needs no more than one thread in MPI.
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) return 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const bool served = serve();
  MPI_Finalize();
  return served ? 0 : 1;
}
