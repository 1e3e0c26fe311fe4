// SPDX-License-Identifier: BSD-3-Clause
#include "common/command_line.h"

#include <cstdio>
#include <string_view>

#include "common/program_name.h"
#include "common/versions.h"

namespace hps {

int print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return written ? 0 : 1;
}

std::string version_line() { return std::string(program_name) + " (HPS) " + hps_version() + "\n"; }

int answer_argument(int argc, const char* const* argv, const std::string& help) {
  const std::string_view argument = argv[1];
  if (argc == 2 && (argument == "-h" || argument == "--help")) return print(help);
  if (argc == 2 && (argument == "-V" || argument == "--version")) return print(version_line());
  std::fprintf(stderr, "%s: unexpected argument %s; see %s --help\n", program_name, argv[argc - 1], program_name);
  return 1;
}

}  // namespace hps
