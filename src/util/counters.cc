// SPDX-License-Identifier: BSD-3-Clause
#include "util/counters.h"

#include <algorithm>

namespace hps {
namespace {

enum class HowOften : std::uint8_t { never, usual };

struct Reason {
  Rejection rejection;
  const char* name;
  HowOften how_often;
};

constexpr Reason all_reasons[] = {
#define HPS_REJECTION(name, how_often, meaning) {Rejection::name, #name, HowOften::how_often},
#include "util/counters.def"
};

// "3 wrong token"
void add_to(std::string* list, std::uint64_t value, std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  if (!list->empty()) *list += ", ";
  *list += std::to_string(value) + " " + name;
}

}  // namespace

std::uint64_t Counters::rejected() const noexcept {
  std::uint64_t sum = 0;
  for (const Reason& reason : all_reasons) sum += rejected(reason.rejection);
  return sum;
}

std::uint64_t Counters::rejected_unusual() const noexcept {
  std::uint64_t sum = 0;
  for (const Reason& reason : all_reasons) {
    if (reason.how_often == HowOften::never) sum += rejected(reason.rejection);
  }
  return sum;
}

std::string Counters::describe() const {
  std::string text;
#define HPS_COUNTER(name, meaning) add_to(&text, name, #name);
#define HPS_REJECTION(name, how_often, meaning) \
  if (rejected(Rejection::name) != 0) add_to(&text, rejected(Rejection::name), #name);
#include "util/counters.def"
  return text;
}

std::string Counters::describe_unusual() const {
  std::string reasons_text;
  for (const Reason& reason : all_reasons) {
    const std::uint64_t count = rejected(reason.rejection);
    if (reason.how_often == HowOften::never && count != 0) add_to(&reasons_text, count, reason.name);
  }
  const std::uint64_t sum = rejected_unusual();
  if (sum == 0) return {};
  return std::to_string(sum) + (sum == 1 ? " message" : " messages") + " rejected: " + reasons_text;
}

const std::vector<CounterInfo>& counter_list() {
  static const std::vector<CounterInfo> list = {
#define HPS_COUNTER(name, meaning) {#name, meaning, false},
#define HPS_REJECTION(name, how_often, meaning) {#name, meaning, true},
#include "util/counters.def"
  };
  return list;
}

}  // namespace hps
