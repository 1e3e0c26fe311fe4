// SPDX-License-Identifier: BSD-3-Clause
// hps_info: what this HPS is, what it was built with, how the environment configures it, and what its ranks count. It
// needs no mpirun. Exit code 1 where a variable has a wrong value, so that a script can ask before it starts a job.
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "common/command_line.h"
#include "common/program_name.h"
#include "info/facts.h"
#include "info/show.h"

const char hps::program_name[] = "hps_info";

namespace {

constexpr char help_text[] =
    "usage: hps_info [--json]\n"
    "\n"
    "Shows the version of HPS, what it was built with, every HPS_* variable with its value, and what a rank counts.\n"
    "Exits 1 where a variable has a wrong value.\n"
    "\n"
    "  --json         show it as JSON\n"
    "  -h, --help     show this text\n"
    "  -V, --version  show the version\n";

bool has_error(const hps::info::Facts& facts) {
  return std::any_of(facts.variables.begin(), facts.variables.end(),
                     [](const hps::info::Variable& variable) { return !variable.error.empty(); });
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = argc == 2 && std::string_view(argv[1]) == "--json";
  if (argc > 1 && !json) return hps::answer_argument(argc, argv, help_text);
  const hps::info::Facts facts = hps::info::gather_facts(environ);
  const int exit_code = hps::print(json ? as_json(facts) : as_text(facts));
  return has_error(facts) ? 1 : exit_code;
}
