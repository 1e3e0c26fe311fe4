// SPDX-License-Identifier: BSD-3-Clause
//
// Data-parallel training with HPS: how a program uses CPU-only ranks to make its all-reduce faster.
//
//     mpirun -n 4 examples/train --data examples/data/digits.csv : -n 2 programs/hps_server
//
// Every worker holds the whole network, and in each step looks at its own part of a batch of images; one all-reduce
// adds the workers' gradients up, and every worker makes the same change to its weights, so they stay the same
// everywhere. What HPS needs is in main(), prepare() and all_reduce(); all else would be the same without it, as
// `--allreduce mpi` shows.
//
// MPI's and HPS's return codes are not looked at: both call the communicator's error handler first, and the one that a
// program starts with ends the job with a message.
//
// Set OPENBLAS_NUM_THREADS=1 where a host runs as many ranks as it has cores.
#include <hps.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "digits.h"
#include "network.h"
#include "train_options.h"
#include "train_report.h"

namespace example {
namespace {

constexpr std::uint32_t seed = 1;
constexpr std::size_t test_images = 360;
constexpr float learning_rate = 0.001F;

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "train: %s\n", message.c_str());
  MPI_Abort(MPI_COMM_WORLD, 2);
  std::abort();  // MPI_Abort does not return, but is not declared so.
}

// Connects the workers with the CPU-only ranks before the first step, and tells how many nodes share the work.
void prepare(const TrainOptions& options, MPI_Comm workers, TrainReport* report) {
  MPI_Comm_size(workers, &report->worker_ranks);
  report->allreduce = options.allreduce == AllReduce::hps ? "hps" : "mpi";
  if (options.allreduce == AllReduce::mpi) return;
  HPS_Plan plan;
  HPS_Comm_prepare(workers);
  HPS_Comm_get_plan(workers, 0, &plan, 0, nullptr);
  report->worker_nodes = plan.n;
  report->cpu_only_nodes = plan.k;
}

// Adds the vectors of all workers up, in place.
void all_reduce(const TrainOptions& options, std::vector<float>* sum, MPI_Comm workers) {
  const auto count = static_cast<int>(sum->size());
  if (options.allreduce == AllReduce::hps)
    HPS_Allreduce_hetero(MPI_IN_PLACE, sum->data(), count, MPI_FLOAT, MPI_SUM, workers);
  else
    MPI_Allreduce(MPI_IN_PLACE, sum->data(), count, MPI_FLOAT, MPI_SUM, workers);
}

// Trains the network on this worker's part of every batch, and fills *report.
void train(const TrainOptions& options, const Digits& images, MPI_Comm workers, Network* network, TrainReport* report) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(workers, &rank);
  MPI_Comm_size(workers, &ranks);
  const Batches batches(images, options.batch, seed);
  Adam adam(network->weights().size(), learning_rate);
  std::vector<float> sum(network->weights().size() + 1);  // The gradient, and the loss behind it.
  const std::span<float> gradient = std::span(sum).first(network->weights().size());
  StepTimes times;
  for (std::size_t step = 0; step < options.steps; ++step) {
    const double start = MPI_Wtime();
    const Digits shard = batches.shard(step, static_cast<std::size_t>(rank), static_cast<std::size_t>(ranks));
    sum.back() = network->compute_gradient(shard, gradient);

    MPI_Barrier(workers);  // For the clock alone: now the all-reduce's time holds no waiting for slower workers.
    const double all_reduce_start = MPI_Wtime();
    all_reduce(options, &sum, workers);
    times.communication.push_back(MPI_Wtime() - all_reduce_start);

    adam.update(gradient, 1.0F / static_cast<float>(options.batch), network->weights());
    times.step.push_back(MPI_Wtime() - start);
    report->loss = sum.back() / static_cast<float>(options.batch);
    if (rank == 0) print_progress(step + 1, options.steps, report->loss, times.step.back());
  }
  report->bytes = sum.size() * sizeof(float);
  report->steps = options.steps;
  report->batch = options.batch;
  gather_times(times, workers, report);
}

// What a worker does. Returns the exit status, the same on every worker.
int work(const TrainOptions& options, MPI_Comm workers) {
  Digits all, images, test;
  const std::string data_error = read_digits(options.data, &all);
  if (!data_error.empty()) fail(data_error);
  if (all.count() < test_images + options.batch) fail("'" + options.data + "' has too few images for such a batch");
  split_digits(all, test_images, seed, &images, &test);

  Network network({image_pixels, options.hidden, options.hidden, class_count}, seed);
  TrainReport report;
  prepare(options, workers, &report);
  train(options, images, workers, &network, &report);
  report.test_accuracy = static_cast<double>(network.count_correct(test)) / static_cast<double>(test.count());
  compare_weights(network.weights(), workers, &report);

  int rank = 0;
  MPI_Comm_rank(workers, &rank);
  int failed = report.weights_agree ? 0 : 1;
  if (rank == 0) {
    print_report(report);
    const std::string json_error = options.json.empty() ? "" : write_json(report, options.json);
    if (!json_error.empty()) std::fprintf(stderr, "train: %s\n", json_error.c_str());
    if (!json_error.empty()) failed = 1;
  }
  int status = 0;  // mpirun passes on the status of whichever rank ends first, so all must have the same.
  MPI_Allreduce(&failed, &status, 1, MPI_INT, MPI_MAX, workers);
  return status;
}

}  // namespace
}  // namespace example

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::TrainOptions options;
  const std::string error = example::parse_train_options(argc, argv, &options);
  if (!error.empty()) example::fail(error + "\n" + example::train_usage);

  int status = 0;
  if (options.allreduce == example::AllReduce::mpi) {
    status = example::work(options, MPI_COMM_WORLD);
  } else {
    MPI_Comm workers = MPI_COMM_NULL;
    HPS_Init(MPI_COMM_WORLD, MPI_INFO_NULL, &workers);
    if (workers == MPI_COMM_NULL)
      HPS_Serve();  // This rank has HPS_ROLE=cpu: it sums until the workers are done, as hps_server does.
    else
      status = example::work(options, workers);
    HPS_Finalize();
  }
  MPI_Finalize();
  return status;
}
