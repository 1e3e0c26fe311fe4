// SPDX-License-Identifier: BSD-3-Clause
// hps_perf: measures a collective as osu_allreduce and nccl-tests do, checks every result, and tells what part of the
// bound is reached. A rank whose role is cpu (HPS_ROLE) serves, like hps_server.
#include <mpi.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "common/command_line.h"
#include "common/mpi_program.h"
#include "common/program_name.h"
#include "common/versions.h"
#include "hps.h"
#include "perf/measure.h"
#include "perf/options.h"
#include "perf/report.h"
#include "perf/result.h"

const char hps::program_name[] = "hps_perf";

namespace hps::perf {
namespace {

int largest_of(MPI_Comm comm, int value) {
  int largest = 0;
  must("MPI_Allreduce", MPI_Allreduce(&value, &largest, 1, MPI_INT, MPI_MAX, comm));
  return largest;
}

// Rank 0 speaks for the job.
void complain(MPI_Comm workers, const std::string& text) {
  if (rank_in(workers) == 0) std::fprintf(stderr, "%s: %s\n", program_name, text.c_str());
}

// Whether all ranks have rank 0's arguments: with others their calls would not match.
bool same_everywhere(MPI_Comm workers, const std::vector<std::string>& arguments) {
  std::string own;
  for (const std::string& argument : arguments) own += argument + '\n';
  int length = static_cast<int>(own.size());
  must("MPI_Bcast", MPI_Bcast(&length, 1, MPI_INT, 0, workers));
  std::string first = own;
  first.resize(static_cast<std::size_t>(length));
  must("MPI_Bcast", MPI_Bcast(first.data(), length, MPI_CHAR, 0, workers));
  return largest_of(workers, first == own ? 0 : 1) == 0;
}

std::string versions() {
  const std::string mpi = mpi_library();
  return "HPS " + hps_version() + ", " + mpi.substr(0, mpi.find(','));
}

// The communicators of --groups: neighbouring worker ranks are in different ones.
struct Workers {
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Comm group = MPI_COMM_NULL;
  int index = 0;  // of the group

  bool is_first() const { return rank_in(all) == 0; }
};

Setting read_setting(const Workers& workers, std::uint64_t bytes) {
  const auto size = static_cast<MPI_Count>(bytes);
  HPS_Plan plan{};
  must("HPS_Comm_get_plan", HPS_Comm_get_plan(workers.group, size, &plan, 0, nullptr));
  const int nodes = plan.n + plan.k;
  Setting setting;
  setting.shares.resize(static_cast<std::size_t>(nodes));
  must("HPS_Comm_get_plan", HPS_Comm_get_plan(workers.group, size, &plan, nodes, setting.shares.data()));
  setting.n = plan.n;
  setting.k = plan.k;
  setting.ranks = size_of(workers.group);
  setting.group = workers.index;
  setting.algorithm = plan.algorithm;
  setting.bound_s = plan.bound_s;
  return setting;
}

// Rank 0's two outputs. Others have none and their calls do nothing.
class Output {
 public:
  // 0, or the errno that says why the JSON file cannot be written.
  int open(const Options& options, bool is_first) {
    is_first_ = is_first;
    if (!is_first || options.json_file.empty()) return 0;
    errno = EIO;
    json_.open(options.json_file);
    return json_.is_open() ? 0 : errno;
  }

  // Written at once, so that a long run shows how far it is.
  void table(const std::string& text) {
    if (is_first_) hps::print(text);
  }
  void json(const std::string& line) {
    if (json_.is_open()) json_ << line << std::endl;
  }

  bool is_good() const { return json_.good() && (!is_first_ || std::ferror(stdout) == 0); }

 private:
  bool is_first_ = false;
  std::ofstream json_;
};

// What every group's first rank has to say, in the order of the groups, on the first worker; elsewhere nothing.
std::vector<std::string> collect(const Workers& workers, int groups, const std::string& text) {
  if (!workers.is_first()) {
    if (rank_in(workers.group) == 0)
      must("MPI_Send", MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, 0, workers.all));
    return {};
  }
  std::vector<std::string> texts = {text};
  for (int group = 1; group < groups; ++group) {
    MPI_Status status{};
    int length = 0;
    must("MPI_Probe", MPI_Probe(group, 0, workers.all, &status));
    must("MPI_Get_count", MPI_Get_count(&status, MPI_CHAR, &length));
    std::string& other = texts.emplace_back(static_cast<std::size_t>(length), '\0');
    must("MPI_Recv", MPI_Recv(other.data(), length, MPI_CHAR, group, 0, workers.all, MPI_STATUS_IGNORE));
  }
  return texts;
}

// Measures every message size; true where all results of this rank's group are right.
bool measure_sizes(const Workers& workers, const Options& options, Output* output) {
  must("HPS_Comm_prepare", HPS_Comm_prepare(workers.group));
  output->table(table_head(versions(), options, read_setting(workers, options.max_bytes)));
  Meter meter(workers.group, options);
  const int groups = static_cast<int>(options.groups);
  std::uint64_t wrong = 0;
  for (const std::uint64_t count : element_counts(options)) {
    // Groups begin together; those that are done early leave the links to the others.
    must("MPI_Barrier", MPI_Barrier(workers.all));
    const Samples samples = meter.measure(count);
    const std::uint64_t bytes = count * datatype_bytes(options.datatype);
    const Result result = make_result(options, read_setting(workers, bytes), bytes, samples);
    const std::string table = table_line(options, result) + (options.predict ? prediction_lines(result) : "");
    for (const std::string& text : collect(workers, groups, table)) output->table(text);
    for (const std::string& text : collect(workers, groups, json_line(result))) output->json(text);
    wrong += samples.wrong;
  }
  if (wrong != 0) complain(workers.group, std::to_string(wrong) + " elements of the results are wrong");
  return wrong == 0;
}

// The exit code, agreed over the workers.
int run_worker(MPI_Comm all, const std::vector<std::string>& arguments) {
  Options options;
  const Status parsed = parse_options(arguments, &options);
  if (!same_everywhere(all, arguments)) {
    complain(all, "the worker ranks were given different options");
    return 1;
  }
  if (!parsed.ok()) {
    complain(all, parsed.to_string() + "; see hps_perf --help");
    return 1;
  }
  if (options.groups > static_cast<std::uint32_t>(size_of(all))) {
    complain(all, "--groups " + std::to_string(options.groups) + ": there are " + std::to_string(size_of(all)) +
                      " worker ranks, and a group needs one");
    return 1;
  }
  Output output;
  const int error = output.open(options, rank_in(all) == 0);
  if (largest_of(all, error) != 0) {
    complain(all, "cannot write " + options.json_file + ": " + std::strerror(error));
    return 1;
  }
  Workers workers{all, all, rank_in(all) % static_cast<int>(options.groups)};
  if (options.groups > 1) must("MPI_Comm_split", MPI_Comm_split(all, workers.index, rank_in(all), &workers.group));
  const bool right = measure_sizes(workers, options, &output);
  if (options.groups > 1) must("MPI_Comm_free", MPI_Comm_free(&workers.group));
  if (!output.is_good()) complain(all, "writing the results failed");
  return largest_of(all, right && output.is_good() ? 0 : 1);
}

// What a rank does between MPI_Init and MPI_Finalize. HPS_Init comes before the options are looked at: it is what all
// ranks of the job have in common, hps_server's too, so that a wrong option ends the job in order.
int run(const std::vector<std::string>& arguments) {
  MPI_Comm workers = MPI_COMM_NULL;
  if (const int error = HPS_Init(MPI_COMM_WORLD, MPI_INFO_NULL, &workers); error != MPI_SUCCESS) {
    report_mpi_error("HPS_Init", error);
    return 1;
  }
  int exit_code = 0;
  if (workers == MPI_COMM_NULL) {
    must("HPS_Serve", HPS_Serve());
  } else {
    must("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(workers, MPI_ERRORS_RETURN));
    exit_code = run_worker(workers, arguments);
    must("MPI_Comm_free", MPI_Comm_free(&workers));
  }
  must("HPS_Finalize", HPS_Finalize());
  return exit_code;
}

// --help, --version and --list need no job. Nothing where there is something to measure, or to complain of; else the
// exit code.
std::optional<int> answer_at_once(const std::vector<std::string>& arguments) {
  Options options;
  if (!parse_options(arguments, &options).ok()) return std::nullopt;
  switch (options.action) {
    case Action::measure:
      return std::nullopt;
    case Action::help:
      return print(help_text());
    case Action::version:
      return print(version_line());
    case Action::list:
      return print(list_text());
  }
  return std::nullopt;
}

}  // namespace
}  // namespace hps::perf

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (const std::optional<int> exit_code = hps::perf::answer_at_once(arguments)) return *exit_code;
  // HPS calls MPI on the caller's thread only, and there is one.
  return hps::run_mpi_program(argc, argv, MPI_THREAD_FUNNELED, [&] { return hps::perf::run(arguments); });
}
