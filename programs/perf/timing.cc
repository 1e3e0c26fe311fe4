// SPDX-License-Identifier: BSD-3-Clause
#include "perf/timing.h"

#include <algorithm>
#include <cstddef>

namespace hps::perf {

Timing summarize(std::vector<double> times_us) {
  std::sort(times_us.begin(), times_us.end());
  const std::size_t middle = times_us.size() / 2;
  const double median = times_us.size() % 2 == 1 ? times_us[middle] : (times_us[middle - 1] + times_us[middle]) / 2;
  return {median, times_us.front(), times_us.back()};
}

}  // namespace hps::perf
