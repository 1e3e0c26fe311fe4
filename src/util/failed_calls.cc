// SPDX-License-Identifier: BSD-3-Clause
#include "util/failed_calls.h"

#include <algorithm>

namespace hps {
namespace {

bool is_before(std::uint32_t a, std::uint32_t b) noexcept { return static_cast<std::int32_t>(a - b) < 0; }

}  // namespace

bool FailedCalls::add(std::uint32_t sequence, const Status& why) {
  if (find(sequence) != nullptr) return true;
  const auto after =
      std::find_if(runs_.begin(), runs_.end(), [&](const Run& run) { return is_before(sequence, run.first); });
  runs_.insert(after, {sequence, sequence, why});
  if (runs_.size() <= most_runs || make_room()) return true;
  std::erase_if(runs_, [&](const Run& run) { return run.first == sequence; });
  return false;
}

// Joins the oldest run that has a neighbour to it.
bool FailedCalls::make_room() noexcept {
  const auto joined =
      std::adjacent_find(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.last + 1 == b.first; });
  if (joined == runs_.end()) return false;
  joined->last = (joined + 1)->last;
  runs_.erase(joined + 1);
  return true;
}

const Status* FailedCalls::find(std::uint32_t sequence) const noexcept {
  for (const Run& run : runs_) {
    if (!is_before(sequence, run.first) && !is_before(run.last, sequence)) return &run.why;
  }
  return nullptr;
}

void FailedCalls::forget_through(std::uint32_t sequence) noexcept {
  std::erase_if(runs_, [&](const Run& run) { return !is_before(sequence, run.last); });
  if (!runs_.empty() && !is_before(sequence, runs_.front().first)) runs_.front().first = sequence + 1;
}

}  // namespace hps
