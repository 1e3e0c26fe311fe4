// SPDX-License-Identifier: BSD-3-Clause
#include "plan/link_rates.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>

namespace hps {

namespace {

constexpr double next_is_equal = 0.8;
constexpr double all_are_equal = 0.7;
constexpr std::size_t enough_to_doubt_the_best = 4;

// 0 where there is none.
double rate_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end(), std::greater<>());
  if (samples.size() >= enough_to_doubt_the_best) return samples[1];
  return samples.empty() ? 0 : samples.front();
}

}  // namespace

std::vector<double> link_rates(std::uint32_t nodes, const std::vector<PairRate>& pairs) {
  std::vector<std::vector<double>> up(nodes);
  std::vector<std::vector<double>> down(nodes);
  for (const PairRate& pair : pairs) {
    assert(pair.from < nodes && pair.to < nodes);
    up[pair.from].push_back(pair.rate);
    down[pair.to].push_back(pair.rate);
  }
  std::vector<double> rates;
  for (std::uint32_t node = 0; node < nodes; ++node)
    rates.push_back(std::min(rate_of(std::move(up[node])), rate_of(std::move(down[node]))));
  return rates;
}

std::vector<double> evened_out(std::vector<double> rates) {
  std::vector<std::size_t> order(rates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rates[a] > rates[b]; });
  const auto rate = [&](std::size_t place) { return rates[order[place]]; };
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && rate(end) >= rate(end - 1) * next_is_equal && rate(end) >= rate(begin) * all_are_equal)
      ++end;
    const double median = rate(begin + (end - begin) / 2);
    for (; begin < end; ++begin) rates[order[begin]] = median;
  }
  return rates;
}

}  // namespace hps
