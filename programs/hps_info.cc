// SPDX-License-Identifier: BSD-3-Clause
// hps_info: what this HPS is, what it was built with, and how the environment configures it. It needs no mpirun. Exit
// code 1 where a variable has a wrong value, so that a script can ask before it starts a job.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "info/facts.h"
#include "info/show.h"

namespace {

constexpr char help_text[] =
    "usage: hps_info [--json]\n"
    "\n"
    "Shows the version of HPS, what it was built with, and every HPS_* variable with its value.\n"
    "Exits 1 where a variable has a wrong value.\n"
    "\n"
    "  --json         show it as JSON\n"
    "  -h, --help     show this text\n"
    "  -V, --version  show the version\n";

enum class Form { text, json, help, version, unknown };

Form form_of(int argc, char** argv) {
  if (argc == 1) return Form::text;
  const std::string_view argument = argv[1];
  if (argc > 2) return Form::unknown;
  if (argument == "--json") return Form::json;
  if (argument == "-h" || argument == "--help") return Form::help;
  if (argument == "-V" || argument == "--version") return Form::version;
  return Form::unknown;
}

std::string output(Form form, const hps::info::Facts& facts) {
  if (form == Form::help) return help_text;
  if (form == Form::version) return "hps_info (HPS) " + facts.version + "\n";
  return form == Form::json ? as_json(facts) : as_text(facts);
}

bool has_error(const hps::info::Facts& facts) {
  return std::any_of(facts.variables.begin(), facts.variables.end(),
                     [](const hps::info::Variable& variable) { return !variable.error.empty(); });
}

}  // namespace

int main(int argc, char** argv) {
  const Form form = form_of(argc, argv);
  if (form == Form::unknown) {
    std::fprintf(stderr, "hps_info: unexpected argument %s; see hps_info --help\n", argv[argc - 1]);
    return 1;
  }
  const hps::info::Facts facts = hps::info::gather_facts(environ);
  std::fputs(output(form, facts).c_str(), stdout);
  const bool failed = std::ferror(stdout) != 0 || std::fflush(stdout) != 0;
  const bool asked_for_variables = form == Form::text || form == Form::json;
  return failed || (asked_for_variables && has_error(facts)) ? 1 : 0;
}
