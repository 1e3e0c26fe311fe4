// SPDX-License-Identifier: BSD-3-Clause
// Counters: what a rank counts of its messages and of its Summation Service, for people who ask what went on. The list
// is counters.def, nowhere else. Counting is an increment; nobody decides anything by a counter.
#ifndef HPS_SRC_UTIL_COUNTERS_H
#define HPS_SRC_UTIL_COUNTERS_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace hps {

// Why a message is dropped; `none`: it is not, or whoever dropped it has counted it.
enum class Rejection : std::uint8_t {
  none,
#define HPS_REJECTION(name, how_often, meaning) name,
#include "util/counters.def"
};

class Counters {
 public:
#define HPS_COUNTER(name, meaning) std::uint64_t name = 0;
#include "util/counters.def"

  void reject(Rejection why) noexcept { ++rejected_[static_cast<std::size_t>(why)]; }
  std::uint64_t rejected(Rejection why) const noexcept { return rejected_[static_cast<std::size_t>(why)]; }
  // For all reasons; and for those that ranks which keep to the protocol never cause.
  std::uint64_t rejected() const noexcept;
  std::uint64_t rejected_unusual() const noexcept;

  // "1200 messages, 4 joins, ..., 2 late": every counter, and every reason for which a message was dropped.
  std::string describe() const;
  // "5 messages rejected: 3 wrong token, 2 unknown group": what is unusual; empty where nothing is.
  std::string describe_unusual() const;

 private:
  static constexpr std::size_t reasons = 1
#define HPS_REJECTION(name, how_often, meaning) +1
#include "util/counters.def"
      ;
  std::array<std::uint64_t, reasons> rejected_{};  // by Rejection
};

// One row of counters.def, for hps_info.
struct CounterInfo {
  const char* name;  // "wrong_token"
  const char* meaning;
  bool is_rejection;
};

const std::vector<CounterInfo>& counter_list();

}  // namespace hps

#endif
