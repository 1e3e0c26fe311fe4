// SPDX-License-Identifier: BSD-3-Clause
// chaos [--seed N] [--runs R] [--seeds FILE] [--kind NAME] [--keep-going] [--verbose] [--trace]: random schedules of
// calls and faults, in virtual time.
//
// Replays the seeds of FILE, then runs R schedules of seeds N, N+1, ... A schedule with faults runs twice: without them
// first, which tells how long it is and checks it too. The first that fails is printed, with its seed; the same seed
// does the same again, on any machine. --kind turns on a kind of schedule that is off, as it finds a known fault
// (kinds.h); --keep-going counts the seeds that fail; --trace prints every message.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "chaos/checker.h"
#include "chaos/schedule.h"
#include "chaos/world.h"

namespace hps::chaos {
namespace {

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t runs = 100;
  std::string seeds_file;
  bool verbose = false;
  bool trace = false;
  Kinds kinds;
  bool keep_going = false;  // count the seeds that fail, instead of stopping at the first
};

struct RunResult {
  std::string wrong;
  std::uint64_t messages = 0;
  std::uint64_t hash = 0;
};

RunResult run_world(const Schedule& schedule, const Kinds& kinds, std::uint64_t messages, bool trace) {
  World world(schedule, kinds, messages);
  if (trace) world.trace();
  const bool ended = world.run();
  return {check(world, kinds, ended), world.cluster().network().messages(), world.cluster().hash()};
}

bool passes(std::uint64_t seed, const Options& options) {
  const Kinds& kinds = options.kinds;
  const Schedule schedule = make_schedule(seed, kinds);
  if (options.verbose) std::fputs(describe(schedule).c_str(), stdout);
  RunResult result = run_world(schedule, kinds, 0, options.trace);
  const char* which = "without faults";
  if (result.wrong.empty() && !schedule.faults.empty()) {
    if (options.verbose)
      std::printf("  without faults: %llu messages, hash %016llx\n", static_cast<unsigned long long>(result.messages),
                  static_cast<unsigned long long>(result.hash));
    result = run_world(schedule, kinds, std::max<std::uint64_t>(result.messages, 1), options.trace);
    which = "with its faults";
  }
  if (options.verbose)
    std::printf("  %s: %llu messages, hash %016llx\n", which, static_cast<unsigned long long>(result.messages),
                static_cast<unsigned long long>(result.hash));
  if (result.wrong.empty()) return true;
  std::printf("chaos: seed %llu failed, %s:\n%s%s", static_cast<unsigned long long>(seed), which, result.wrong.c_str(),
              options.verbose ? "" : describe(schedule).c_str());
  return false;
}

bool parse(const char* text, std::uint64_t* number) {
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, *number);
  return error == std::errc() && rest == end && rest != text;
}

bool turn_on(const char* name, Kinds* kinds) {
  for (const NamedKind& one : named_kinds) {
    if (std::strcmp(one.name, name) != 0) continue;
    kinds->*one.kind = true;
    return true;
  }
  return false;
}

bool parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--verbose") {
      options->verbose = true;
    } else if (word == "--trace") {
      options->verbose = options->trace = true;
    } else if (word == "--keep-going") {
      options->keep_going = true;
    } else if (word == "--kind") {
      if (!turn_on(value, &options->kinds)) return false;
      ++i;
    } else if (word == "--seeds" && *value != '\0') {
      options->seeds_file = argv[++i];
    } else if (word == "--seed" || word == "--runs") {
      if (!parse(value, word == "--seed" ? &options->seed : &options->runs)) return false;
      ++i;
    } else {
      return false;
    }
  }
  return true;
}

// One number a line; what follows # is for people. ctest runs in the build folder and says where the sources are.
bool read_seeds(const std::string& path, std::vector<std::uint64_t>* seeds) {
  const char* const sources = std::getenv("HPS_TEST_SRCDIR");
  std::ifstream file(sources == nullptr ? path : std::string(sources) + "/" + path);
  if (!file) return false;
  for (std::string line; std::getline(file, line);) {
    line.erase(std::min(line.find('#'), line.size()));
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (line.empty()) continue;
    std::uint64_t seed = 0;
    if (!parse(line.c_str(), &seed)) return false;
    seeds->push_back(seed);
  }
  return true;
}

int run(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, &options)) {
    std::fputs("usage: chaos [--seed N] [--runs R] [--seeds FILE] [--kind NAME] [--keep-going] [--verbose] [--trace]\n",
               stderr);
    return 2;
  }
  std::vector<std::uint64_t> seeds;
  if (!options.seeds_file.empty() && !read_seeds(options.seeds_file, &seeds)) {
    std::fprintf(stderr, "chaos: cannot read seeds, one a line, from %s\n", options.seeds_file.c_str());
    return 2;
  }
  for (std::uint64_t i = 0; i < options.runs; ++i) seeds.push_back(options.seed + i);
  std::uint64_t failed = 0;
  for (std::uint64_t seed : seeds) {
    failed += !passes(seed, options);
    if (failed != 0 && !options.keep_going) break;
  }
  if (failed == 0) std::printf("chaos: %zu runs passed\n", seeds.size());
  if (failed != 0 && options.keep_going)
    std::printf("chaos: %llu of %zu runs failed\n", static_cast<unsigned long long>(failed), seeds.size());
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hps::chaos

int main(int argc, char** argv) { return hps::chaos::run(argc, argv); }
