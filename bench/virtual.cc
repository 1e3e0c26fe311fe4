// SPDX-License-Identifier: BSD-3-Clause
// virtual: what HPS_Allreduce_hetero's engine makes of networks that no test machine has, in virtual time: every rank's
// engine runs in this process over the fake network of the tests, whose connections behave as TCP's (stream.h) and
// whose ports have a finite queue. Nothing is told: the plan is what measuring has made of it, after the first calls.
//
//   bench/virtual --grid      rates x round trips x nodes x sizes: percent of what is wanted (below)
//   bench/virtual --cluster   settings that tools/cluster was measured with, to compare the two
//   bench/virtual --cliffs    sizes from 8 B on: one that takes longer than a larger one, or with a CPU-only host more
//   bench/virtual --one rate=1gbit,round-trip=10ms,n=8,k=4,bytes=16M[,chunk=N][,window=N][,queue=BYTES][,emulated=1]
//
// with --json a line an object. What is wanted: 97 % of the bound where a message is 100 times rate x round trip or
// more, 97 % of bound + 2 round trips elsewhere. CPUs take no time here: that is for the emulated cluster to say.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/simulation.h"
#include "util/units.h"

namespace {

using hps::Algorithm;
using hps::Plan;
using hps::TimeNs;
using hps::test::Simulation;
using hps::test::SimulationOptions;

constexpr std::uint64_t mib = 1u << 20;
constexpr std::uint64_t bucket_bytes = 128u << 10;  // of tools/cluster

struct Setting {
  double rate = 12.5e6;  // bytes a second
  TimeNs round_trip_ns = 100'000;
  std::uint32_t n = 8;
  std::uint32_t k = 4;
  std::uint64_t bytes = 16 * mib;
  std::uint32_t chunk_bytes = 0;  // 0: as HPS finds it
  std::uint32_t window = 0;
  std::uint64_t queue_bytes = 0;  // 0: port_queue()
  bool is_emulated = false;       // ports are token buckets both ways, as tools/cluster has them

  double per_round_trip() const { return rate * static_cast<double>(round_trip_ns) * 1e-9; }
};

// 30 ms of the rate, as tools/cluster, on fast links no more than the larger of 4 MB, a switch's buffer, and what is
// under way in a round trip; and 128 KB, which the cluster's token bucket takes as well.
std::uint64_t port_queue(const Setting& setting) {
  const double most = std::max(4e6, setting.per_round_trip());
  return static_cast<std::uint64_t>(std::min(0.03 * setting.rate, most)) + (128u << 10);
}

struct Result {
  double seconds = 0;
  double bound_s = 0;
  double found_rate = 0;
  std::uint32_t chunk_bytes = 0;
  std::uint32_t window = 0;
  Algorithm algorithm = Algorithm::automatic;
  std::uint64_t losses = 0;  // in the calls measured
  bool settled = false;
  bool right = false;

  double of_bound() const { return 100 * bound_s / seconds; }
  double of_allowed(const Setting& setting) const {
    return 100 * (bound_s + 2e-9 * static_cast<double>(setting.round_trip_ns)) / seconds;
  }
  bool is_long(const Setting& setting) const {
    return static_cast<double>(setting.bytes) >= 100 * setting.per_round_trip();
  }
  double of_wanted(const Setting& setting) const { return is_long(setting) ? of_bound() : of_allowed(setting); }
};

SimulationOptions simulation_options(const Setting& setting) {
  SimulationOptions options;
  options.workers = setting.n;
  options.cpu_only = setting.k;
  options.rate = setting.rate;
  options.rates_told = setting.chunk_bytes != 0 && setting.window != 0;
  options.renewal.worth_it_s = 0;  // after the first call; whether that is worth it is not the question here
  options.ports.downlink_queue_bytes = setting.queue_bytes != 0 ? setting.queue_bytes : port_queue(setting);
  if (setting.is_emulated) {
    options.ports.uplink_queue_bytes = options.ports.downlink_queue_bytes;
    options.ports.burst_bytes = bucket_bytes;
  }
  options.network.delay_ns = setting.round_trip_ns / 2;
  options.network.streams = true;
  options.plan.chunk_bytes = setting.chunk_bytes;
  options.plan.window = setting.window;
  return options;
}

// A job of equal workers. All send the same vector and write into one, which is the same for all: so a large job needs
// little memory.
class Job {
 public:
  explicit Job(const Setting& setting)
      : setting_(setting), simulation_(simulation_options(setting)), group_(simulation_.open_group_of_all()) {}

  const Plan& plan() { return simulation_.membership(group_, 0).plan(); }
  hps::fake::Network& network() { return simulation_.network(); }

  double seconds_of_call(std::uint64_t bytes) {
    const std::uint64_t count = std::max<std::uint64_t>(bytes / sizeof(float), 1);
    grow(count);
    std::vector<std::unique_ptr<hps::Operation>> operations;
    const TimeNs begin = network().now();
    for (std::uint32_t member = 0; member < setting_.n; ++member) operations.push_back(start(member, count));
    std::size_t next = 0;
    network().run([&] {
      while (next < operations.size() && operations[next]->done()) ++next;
      return next == operations.size();
    });
    const TimeNs end = network().now();
    for (std::uint32_t member = 0; member < setting_.n; ++member) {
      failed_ |= !operations[member]->done() || !operations[member]->status().ok();
      simulation_.membership(group_, member).finish(*operations[member]);
    }
    return static_cast<double>(end - begin) * 1e-9;
  }
  // Whether all calls ended well, and the last one's result is right.
  bool right() const {
    bool is_right = !failed_;
    for (std::uint64_t i = 0; i < count_; ++i) is_right &= output_[i] == static_cast<float>(setting_.n) * input_[i];
    return is_right;
  }

 private:
  void grow(std::uint64_t count) {
    count_ = count;
    for (std::uint64_t i = input_.size(); i < count; ++i) input_.push_back(static_cast<float>(i * 13 % 31));
    output_.assign(count, -1);
  }
  std::unique_ptr<hps::Operation> start(std::uint32_t member, std::uint64_t count) {
    hps::Membership& membership = simulation_.membership(group_, member);
    const hps::allreduce_hetero::Arguments arguments{reinterpret_cast<const std::byte*>(input_.data()),
                                                     reinterpret_cast<std::byte*>(output_.data()), count,
                                                     hps::Datatype::float32, hps::Op::sum};
    auto operation = hps::make_allreduce_hetero(membership, arguments);
    membership.start(*operation);
    network().wake(static_cast<hps::Rank>(member));
    return operation;
  }

  Setting setting_;
  Simulation simulation_;
  std::size_t group_;
  std::vector<float> input_;
  std::vector<float> output_;
  std::uint64_t count_ = 0;
  bool failed_ = false;
};

// Calls until three in a row have left the plan as it was.
bool settle(Job& job, std::uint64_t bytes) {
  constexpr int enough = 3;
  constexpr int most = 24;
  std::uint16_t number = job.plan().number;
  int unchanged = -enough;  // the first calls measure
  for (int call = 0; call < most && unchanged < enough; ++call) {
    job.seconds_of_call(bytes);
    unchanged = number == job.plan().number ? unchanged + 1 : 0;
    number = job.plan().number;
  }
  return unchanged == enough;
}

// In a job that has settled.
Result measure_in(Job& job, const Setting& setting) {
  Result result;
  const std::uint64_t losses = job.network().losses();
  double seconds[3];
  for (double& one : seconds) one = job.seconds_of_call(setting.bytes);
  std::sort(std::begin(seconds), std::end(seconds));
  result.seconds = seconds[1];
  result.losses = job.network().losses() - losses;
  result.right = job.right();
  const Plan& plan = job.plan();
  result.found_rate = plan.nodes.front().rate;
  result.chunk_bytes = plan.chunk_bytes;
  result.window = plan.window;
  result.algorithm = plan.algorithm(setting.bytes);
  const double n = setting.n;
  const double k = std::min(setting.k, setting.n);
  result.bound_s = 2 * n * (n - 1) / (n * n + k * n - 2 * k) * static_cast<double>(setting.bytes) / setting.rate;
  return result;
}

Result measure(const Setting& setting) {
  Job job(setting);
  // Short messages go another way, of which nothing is learnt of links.
  const bool settled = settle(job, std::max(setting.bytes, mib));
  Result result = measure_in(job, setting);
  result.settled = settled;
  return result;
}

std::string time_text(double seconds) {
  char text[32];
  if (seconds < 1e-3)
    std::snprintf(text, sizeof text, "%.4g us", seconds * 1e6);
  else if (seconds < 1)
    std::snprintf(text, sizeof text, "%.4g ms", seconds * 1e3);
  else
    std::snprintf(text, sizeof text, "%.4g s", seconds);
  return text;
}

const char* algorithm_text(Algorithm algorithm) { return algorithm == Algorithm::direct ? "direct" : "doubling"; }

class Table {
 public:
  explicit Table(bool json) : json_(json) {
    if (!json_)
      std::printf(
          "    rate  round trip  nodes      bytes        time  of bound  of +2 rtt  wanted  plan, rate found, lost\n");
  }
  void add(const Setting& setting, const Result& result) {
    const double round_trip_s = static_cast<double>(setting.round_trip_ns) * 1e-9;
    if (json_) {
      std::printf("{\"rate_bit_s\": %.6g, \"round_trip_us\": %.6g, \"n\": %u, \"k\": %u, \"bytes\": %" PRIu64
                  ", \"time_us\": %.3f, \"bound_us\": %.3f, \"percent_of_bound\": %.2f, "
                  "\"percent_of_bound_and_2_round_trips\": "
                  "%.2f, \"percent_of_wanted\": %.2f, \"algorithm\": \"%s\", \"chunk_bytes\": %u, \"window\": %u, "
                  "\"rate_found_bit_s\": %.6g, \"losses\": %" PRIu64 ", \"settled\": %s, \"right\": %s}\n",
                  setting.rate * 8, round_trip_s * 1e6, setting.n, setting.k, setting.bytes, result.seconds * 1e6,
                  result.bound_s * 1e6, result.of_bound(), result.of_allowed(setting), result.of_wanted(setting),
                  algorithm_text(result.algorithm), result.chunk_bytes, result.window, result.found_rate * 8,
                  result.losses, result.settled ? "true" : "false", result.right ? "true" : "false");
    } else {
      std::printf("%8s  %10s  %2u+%-2u  %9s  %10s     %5.1f      %5.1f   %5.1f%s %s, %u x %u, %s, %" PRIu64 "%s%s\n",
                  hps::format_rate(setting.rate).c_str(), time_text(round_trip_s).c_str(), setting.n, setting.k,
                  hps::format_bytes(setting.bytes).c_str(), time_text(result.seconds).c_str(), result.of_bound(),
                  result.of_allowed(setting), result.of_wanted(setting), result.of_wanted(setting) < 97 ? "!" : " ",
                  algorithm_text(result.algorithm), result.chunk_bytes, result.window,
                  hps::format_rate(result.found_rate).c_str(), result.losses, result.settled ? "" : ", not settled",
                  result.right ? "" : ", WRONG");
    }
    std::fflush(stdout);
    all_right_ &= result.right;
  }
  bool all_right() const { return all_right_; }

 private:
  bool json_;
  bool all_right_ = true;
};

struct Emulated {
  Setting setting;
  const char* percent;
};

constexpr double mbit = 1e6 / 8;

// Measured on the emulated cluster, with chunks and windows as given: src/plan/make_plan.cc, design and
// bench/RESULTS.md.
const Emulated emulated[] = {
    {{100 * mbit, 100'000, 8, 4, 64 * mib, 16384, 16, 0, true}, "98"},
    {{100 * mbit, 100'000, 8, 4, 64 * mib, 16384, 24, 0, true}, "98"},
    {{100 * mbit, 100'000, 8, 4, 64 * mib, 16384, 48, 0, true}, "98"},
    {{100 * mbit, 100'000, 8, 4, 16 * mib, 16384, 24, 0, true}, "98"},
    {{100 * mbit, 100'000, 8, 4, 16 * mib, 16384, 32, 0, true}, "97"},
    {{100 * mbit, 100'000, 8, 4, 16 * mib, 16384, 48, 0, true}, "88-96"},
    {{100 * mbit, 100'000, 8, 4, 16 * mib, 16384, 64, 0, true}, "56"},
    {{100 * mbit, 100'000, 8, 4, 16 * mib, 16384, 96, 0, true}, "80"},
    {{100 * mbit, 100'000, 8, 4, 16 * mib, 32768, 24, 0, true}, "96"},
    {{100 * mbit, 100'000, 8, 4, 16 * mib, 32768, 48, 0, true}, "80-84"},
    {{20 * mbit, 100'000, 8, 0, 4 * mib, 16384, 16, 0, true}, "59"},
    {{20 * mbit, 100'000, 8, 0, 4 * mib, 8192, 16, 0, true}, "98"},
    {{20 * mbit, 100'000, 8, 4, 4 * mib, 8192, 16, 0, true}, "97"},
    {{20 * mbit, 100'000, 8, 4, 4 * mib, 16384, 16, 0, true}, "97"},
    {{20 * mbit, 100'000, 8, 4, 4 * mib, 8192, 64, 0, true}, "68"},
    {{1000 * mbit, 100'000, 8, 4, 128 * mib, 61440, 16, 0, true}, "94"},
    {{1000 * mbit, 100'000, 8, 4, 128 * mib, 61440, 32, 0, true}, "98"},
    {{1000 * mbit, 100'000, 8, 4, 128 * mib, 16384, 64, 0, true}, "98.6"},
};

void compare_with_cluster() {
  std::printf("    rate  nodes  bytes    chunk x W   cluster   here   lost\n");
  for (const Emulated& one : emulated) {
    const Result result = measure(one.setting);
    std::printf("%8s  %2u+%-2u  %5s  %7u x %-2u  %8s  %5.1f  %5" PRIu64 "%s\n",
                hps::format_rate(one.setting.rate).c_str(), one.setting.n, one.setting.k,
                hps::format_bytes(one.setting.bytes).c_str(), one.setting.chunk_bytes, one.setting.window, one.percent,
                result.of_bound(), result.losses, result.right ? "" : " WRONG");
    std::fflush(stdout);
  }
}

int fail(const char* what, std::string_view text) {
  std::fprintf(stderr, "virtual: %s \"%.*s\"\n", what, static_cast<int>(text.size()), text.data());
  return 2;
}

bool parse_time(std::string_view text, TimeNs* ns) {
  char* end = nullptr;
  const std::string copy(text);
  const double number = std::strtod(copy.c_str(), &end);
  const double unit = std::strcmp(end, "us") == 0 ? 1e3 : std::strcmp(end, "ms") == 0 ? 1e6 : 0;
  if (number <= 0 || unit <= 0) return false;
  *ns = static_cast<TimeNs>(number * unit);
  return true;
}

bool set(Setting* setting, std::string_view name, std::string_view value) {
  std::uint64_t number = 0;
  if (name == "rate") return hps::parse_rate(value, &setting->rate);
  if (name == "round-trip") return parse_time(value, &setting->round_trip_ns);
  if (!hps::parse_bytes(value, &number)) return false;
  if (name == "n")
    setting->n = static_cast<std::uint32_t>(number);
  else if (name == "k")
    setting->k = static_cast<std::uint32_t>(number);
  else if (name == "bytes")
    setting->bytes = number;
  else if (name == "chunk")
    setting->chunk_bytes = static_cast<std::uint32_t>(number);
  else if (name == "window")
    setting->window = static_cast<std::uint32_t>(number);
  else if (name == "queue")
    setting->queue_bytes = number;
  else if (name == "emulated")
    setting->is_emulated = number != 0;
  else
    return false;
  return true;
}

bool parse(std::string_view text, Setting* setting) {
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || !set(setting, one.substr(0, equals), one.substr(equals + 1))) return false;
  }
  return true;
}

void run_grid(Table& table) {
  for (const double rate : {10 * mbit, 100 * mbit, 1000 * mbit, 10'000 * mbit, 100'000 * mbit, 400'000 * mbit}) {
    for (const TimeNs round_trip_ns : {10'000, 100'000, 1'000'000, 10'000'000, 50'000'000}) {
      for (const auto& [n, k] : {std::pair<std::uint32_t, std::uint32_t>{8, 0}, {8, 4}, {8, 8}, {64, 64}}) {
        Setting setting;
        setting.rate = rate;
        setting.round_trip_ns = round_trip_ns;
        setting.n = n;
        setting.k = k;
        // 100 times what is under way in a round trip, as far as that is 2 MB at least, and memory and time suffice.
        const double most = n == 64 ? 16.0 * mib : 64.0 * mib;
        setting.bytes = static_cast<std::uint64_t>(std::clamp(100 * setting.per_round_trip(), 2.0 * mib, most));
        table.add(setting, measure(setting));
      }
    }
  }
}

// Sizes from 8 B to 16 MB, and every number of CPU-only hosts. Tells where one takes more than 2 % longer than with a
// CPU-only host less, or than twice as large a message; and more than 2.5 times as long as half as large a one.
void look_for_cliffs() {
  constexpr double tolerance = 1.02;
  constexpr double cliff = 2.5;
  constexpr std::uint32_t n = 8;
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t bytes = 8; bytes <= 16 * mib; bytes *= 2) sizes.push_back(bytes);
  int found = 0;
  const auto complain = [&](const Setting& setting, double seconds, const char* what, double other) {
    std::printf("%s, round trip %s, %u+%u, %s: %s, %s %s\n", hps::format_rate(setting.rate).c_str(),
                time_text(static_cast<double>(setting.round_trip_ns) * 1e-9).c_str(), setting.n, setting.k,
                hps::format_bytes(setting.bytes).c_str(), time_text(seconds).c_str(), what, time_text(other).c_str());
    std::fflush(stdout);
    ++found;
  };
  for (const auto& [rate, round_trip_ns] : {std::pair<double, TimeNs>{100 * mbit, 100'000},
                                            {1000 * mbit, 100'000},
                                            {10'000 * mbit, 1'000'000},
                                            {100 * mbit, 50'000'000}}) {
    std::vector<double> before(sizes.size());  // with a CPU-only host less
    for (std::uint32_t k = 0; k <= n; ++k) {
      Setting setting;
      setting.rate = rate;
      setting.round_trip_ns = round_trip_ns;
      setting.n = n;
      setting.k = k;
      Job job(setting);
      settle(job, 4 * mib);
      double half = 0;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        setting.bytes = sizes[i];
        const double seconds = measure_in(job, setting).seconds;
        if (i > 0 && seconds * tolerance < half) complain(setting, seconds, "and half of it", half);
        if (i > 0 && seconds > cliff * half) complain(setting, seconds, "and half of it only", half);
        if (k > 0 && seconds > tolerance * before[i])
          complain(setting, seconds, "and without one CPU-only host", before[i]);
        before[i] = half = seconds;
      }
    }
  }
  std::printf("%d of %zu\n", found, 4 * (n + 1) * sizes.size());
}

int run(const std::vector<std::string_view>& arguments) {
  const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--json") continue;
    if (arguments[i] == "--cluster") {
      compare_with_cluster();
    } else if (arguments[i] == "--cliffs") {
      look_for_cliffs();
    } else if (arguments[i] == "--grid") {
      Table table(json);
      run_grid(table);
      if (!table.all_right()) return 1;
    } else if (arguments[i] == "--one" && i + 1 < arguments.size()) {
      Setting setting;
      if (!parse(arguments[++i], &setting) || setting.n < 2 || setting.bytes == 0)
        return fail("cannot read", arguments[i]);
      Table table(json);
      table.add(setting, measure(setting));
    } else {
      return fail("does not know", arguments[i]);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& why) {
    std::fprintf(stderr, "virtual: %s\n", why.what());
    return 2;
  }
}
