// SPDX-License-Identifier: BSD-3-Clause
// How a Result is shown: a line of a table for people, an object of JSON for programs.
#ifndef HPS_PROGRAMS_PERF_REPORT_H
#define HPS_PROGRAMS_PERF_REPORT_H

#include <string>

#include "perf/options.h"
#include "perf/result.h"

namespace hps::perf {

// The lines over the table: what is measured and how the columns are called. They begin with '#' and end with a
// newline. `versions` names the libraries.
std::string table_head(const std::string& versions, const Options& options, const Setting& setting);

// One line, '-' for what is not known.
std::string table_line(const Options& options, const Result& result);

// The lines of --predict, each begins with '#'.
std::string prediction_lines(const Result& result);

// One line of JSON without a newline; null stands for what is not known.
std::string json_line(const Result& result);

}  // namespace hps::perf

#endif
