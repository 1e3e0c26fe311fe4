// SPDX-License-Identifier: BSD-3-Clause
// What the command lines of all programs have in common.
#ifndef HPS_PROGRAMS_COMMON_COMMAND_LINE_H
#define HPS_PROGRAMS_COMMON_COMMAND_LINE_H

#include <string>

namespace hps {

// Writes text to standard output. The exit code of a program that does no more: 0, or 1 where it could not be written.
int print(const std::string& text);

// "hps_perf (HPS) 0.1.0" and a newline.
std::string version_line();

// For a program that takes no options but --help and --version: answers one of them, and refuses anything else with a
// message on standard error. There must be an argument. The exit code.
int answer_argument(int argc, const char* const* argv, const std::string& help);

}  // namespace hps

#endif
