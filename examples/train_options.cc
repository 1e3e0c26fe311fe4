// SPDX-License-Identifier: BSD-3-Clause
//
// Parses the command line of train by getopt_long.
#include "train_options.h"

#include <getopt.h>

#include <charconv>
#include <cstring>

namespace example {
namespace {

constexpr std::size_t most_images = 1000;  // A batch and a layer may be so large: far more than these digits need,
constexpr std::size_t most_width = 10000;  // and few enough for the products' sizes to fit a BLAS's int.
constexpr std::size_t most_steps = 1000000;

std::string parse_number(const char* name, const char* text, std::size_t most, std::size_t* number) {
  const char* end = text + std::strlen(text);
  std::size_t value = 0;
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error == std::errc() && stop == end && value >= 1 && value <= most) {
    *number = value;
    return "";
  }
  return std::string("--") + name + ": '" + text + "' is not a whole number from 1 to " + std::to_string(most);
}

std::string parse_allreduce(const char* text, AllReduce* allreduce) {
  const std::string name = text;
  if (name != "hps" && name != "mpi") return "--allreduce: '" + name + "' is neither hps nor mpi";
  *allreduce = name == "hps" ? AllReduce::hps : AllReduce::mpi;
  return "";
}

}  // namespace

const char train_usage[] =
    "usage: train --data FILE [--allreduce hps|mpi] [--steps N] [--batch N] [--hidden N] [--json FILE]";

std::string parse_train_options(int argc, char** argv, TrainOptions* options) {
  static const option long_options[] = {
      {"data", required_argument, nullptr, 'd'},
      {"allreduce", required_argument, nullptr, 'a'},
      {"steps", required_argument, nullptr, 's'},
      {"batch", required_argument, nullptr, 'b'},
      {"hidden", required_argument, nullptr, 'h'},
      {"json", required_argument, nullptr, 'j'},
      {nullptr, 0, nullptr, 0},
  };
  opterr = 0;
  std::string error;
  for (int key = 0; error.empty() && (key = getopt_long(argc, argv, "", long_options, nullptr)) != -1;) {
    switch (key) {
      case 'd':
        options->data = optarg;
        break;
      case 'j':
        options->json = optarg;
        break;
      case 'a':
        error = parse_allreduce(optarg, &options->allreduce);
        break;
      case 's':
        error = parse_number("steps", optarg, most_steps, &options->steps);
        break;
      case 'b':
        error = parse_number("batch", optarg, most_images, &options->batch);
        break;
      case 'h':
        error = parse_number("hidden", optarg, most_width, &options->hidden);
        break;
      default:
        error = std::string("'") + argv[optind - 1] + "' is unknown or lacks its value";
    }
  }
  if (error.empty() && optind < argc) error = std::string("'") + argv[optind] + "' is not an option";
  if (error.empty() && options->data.empty()) error = "--data is missing";
  return error;
}

}  // namespace example
