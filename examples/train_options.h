// SPDX-License-Identifier: BSD-3-Clause
//
// The command line of train.
#ifndef EXAMPLES_TRAIN_OPTIONS_H
#define EXAMPLES_TRAIN_OPTIONS_H

#include <cstddef>
#include <string>

namespace example {

enum class AllReduce { hps, mpi };

struct TrainOptions {
  std::string data;                      // --data FILE, the digits; required.
  AllReduce allreduce = AllReduce::hps;  // --allreduce hps|mpi
  std::size_t steps = 50;                // --steps N
  std::size_t batch = 128;               // --batch N, images in a step, over all workers
  std::size_t hidden = 1440;  // --hidden N, the width of both hidden layers: the gradient grows with its square
  std::string json;           // --json FILE, what was measured, as one JSON object
};

extern const char train_usage[];

// Returns an empty string, or what is wrong with the command line.
[[nodiscard]] std::string parse_train_options(int argc, char** argv, TrainOptions* options);

}  // namespace example

#endif  // EXAMPLES_TRAIN_OPTIONS_H
