// SPDX-License-Identifier: BSD-3-Clause
// How fast the kernels sum, beside what the machine moves anyway: a plain loop that reads as many streams and writes
// one, and STREAM's triad; sums of 16-bit floats and of long double, which memory does not limit, also beside a loop of
// only the instructions that they cannot do without. All take turns, for a machine's speed drifts; figures are medians
// over the turns, in GB moved a second (n reads and one write an element).
//
//   bench/summation_bench --benchmark_filter=float32/sum
//
// Names are datatype/op/leaves/place/instruction set/threads. In cache a thread's part of a vector has 16 KB (4 KB with
// more than 16 leaves); out of cache all vectors together have 256 MB. The loop adds numbers of the datatype where the
// compiler has vectors for them, else, and for operations on bits, 64-bit integers: it stands for the memory. Trees of
// more than 16 leaves are held against passes of the loop over 16 streams each.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// The loops must be vectorised whatever the build's optimisation level, to be worth comparing with.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#include "bench/instruction_bound.h"
#include "summation/kernels.h"
#include "summation/tree.h"

namespace hps {
namespace {

constexpr std::size_t out_of_cache_bytes = 256u << 20;

// output[i] = inputs[0][i] + ... + inputs[n-1][i], left to right.
template <class T, std::size_t... i>
[[gnu::always_inline]] inline void sum_streams(const void* const* inputs, void* output, std::size_t elements,
                                               std::index_sequence<i...>) {
  const T* const input[] = {static_cast<const T*>(inputs[i])...};
  T* out = static_cast<T*>(output);
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep  // restrict alone does not do: beyond 10 streams GCC gives up its alias checks
#endif
  for (std::size_t e = 0; e < elements; ++e) out[e] = static_cast<T>((... + input[i][e]));
}

using Loop = void (*)(const void* const* inputs, void* output, std::size_t elements);

template <class T, std::size_t n>
void loop_baseline(const void* const* inputs, void* output, std::size_t elements) {
  sum_streams<T>(inputs, output, elements, std::make_index_sequence<n>());
}

#if defined(__x86_64__)
template <class T, std::size_t n>
[[gnu::target("avx2")]] void loop_avx2(const void* const* inputs, void* output, std::size_t elements) {
  sum_streams<T>(inputs, output, elements, std::make_index_sequence<n>());
}
template <class T, std::size_t n>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void loop_avx512(const void* const* inputs, void* output,
                                                                       std::size_t elements) {
  sum_streams<T>(inputs, output, elements, std::make_index_sequence<n>());
}
#endif

template <class T, std::size_t... i>
Loop loop_of(Isa isa, std::uint32_t n, std::index_sequence<i...>) {
  using Lane = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
#if defined(__x86_64__)
  static constexpr Loop avx2[] = {&loop_avx2<Lane, i + 2>...};
  static constexpr Loop avx512[] = {&loop_avx512<Lane, i + 2>...};
  if (isa == Isa::avx2) return avx2[n - 2];
  if (isa == Isa::avx512) return avx512[n - 2];
#endif
  static constexpr Loop baseline[] = {&loop_baseline<Lane, i + 2>...};
  return baseline[n - 2];
}

// What the loop for T adds, `bytes` of it: T, or what takes its place.
template <class T>
using Streamed =
    std::conditional_t<std::is_arithmetic_v<T> && sizeof(T) <= 8 && !std::is_same_v<T, bool>, T, std::uint64_t>;

struct LoopOver {
  Loop loop;
  std::size_t element_bytes;
};

LoopOver loop_of(Isa isa, Datatype type, std::uint32_t n) {
  constexpr auto up_to_max = std::make_index_sequence<max_operands - 1>();
  switch (type) {
#define HPS_DATATYPE(name, ctype, kind) \
  case Datatype::name:                  \
    return {loop_of<Streamed<ctype>>(isa, n, up_to_max), sizeof(Streamed<ctype>)};
#include "util/datatypes.def"
#undef HPS_DATATYPE
  }
  return {};
}

#if defined(__x86_64__)
[[gnu::target("avx2")]]
#endif
[[gnu::noinline]] void
triad(double* __restrict a, const double* b, const double* c, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) a[i] = b[i] + 3.0 * c[i];
}

enum class Place { in_cache, out_of_cache };

struct Setting {
  Datatype type;
  Op op;
  std::uint32_t leaves;
  Place place;
  Isa isa;
  int threads;

  std::string name() const {
    return std::string(datatype_name(type)) + '/' + op_name(op) + '/' + std::to_string(leaves) +
           (place == Place::in_cache ? "/in_cache/" : "/out_of_cache/") + isa_name(isa) + '/' + std::to_string(threads);
  }
};

// leaves + 1 page-aligned vectors, written once so that each page is there.
class Vectors {
 public:
  enum class Elements { any, long_double };

  Vectors(std::uint32_t count, std::size_t bytes, Elements elements)
      : memory_(static_cast<std::byte*>(std::aligned_alloc(page_bytes, count * bytes))), bytes_(bytes) {
    std::fill_n(memory_.get(), count * bytes, std::byte{0x3f});  // floats below 1, no denormals
    if (elements == Elements::long_double) {                     // of which not all bits are numbers
      std::fill_n(reinterpret_cast<long double*>(memory_.get()), count * bytes / sizeof(long double), 0.75L);
    }
  }
  void* part(std::uint32_t i, std::size_t offset) { return memory_.get() + i * bytes_ + offset; }

  static constexpr std::size_t page_bytes = 4096;

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t bytes_;
};

// The times of one of the contestants.
class Turns {
 public:
  // work(thread) is what a thread does, `repeats` times, all at once. What is repeated is done once before: the one
  // whose turn it was before may have left a thread's memory in another core's cache.
  template <class Work>
  double time(int threads, int repeats, const Work& work) {
    std::chrono::steady_clock::time_point start;
#pragma omp parallel num_threads(threads)
    {
      const int thread = omp_get_thread_num();
      if (repeats > 1) work(static_cast<std::size_t>(thread));
#pragma omp barrier
#pragma omp master
      start = std::chrono::steady_clock::now();
      for (int i = 0; i < repeats; ++i) {
        work(static_cast<std::size_t>(thread));
        benchmark::ClobberMemory();
      }
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    seconds_.push_back(spent.count() / repeats);
    return spent.count();
  }
  double gigabytes_per_second(double bytes) {
    const auto middle = seconds_.begin() + static_cast<std::ptrdiff_t>(seconds_.size() / 2);
    std::nth_element(seconds_.begin(), middle, seconds_.end());
    return bytes / *middle * 1e-9;
  }

 private:
  std::vector<double> seconds_;
};

Layout flat_layout(std::uint32_t members) {
  Layout layout;
  for (std::uint32_t i = 0; i < members; ++i) layout.nodes.push_back({{{{i}}}});
  return layout;
}

// Pages of a thread's part of a vector.
std::size_t pages_a_part(const Setting& setting) {
  if (setting.place == Place::in_cache) return setting.leaves <= max_operands ? 4 : 1;
  return out_of_cache_bytes / (setting.leaves + 1) / Vectors::page_bytes / static_cast<std::size_t>(setting.threads);
}

void run(benchmark::State& state, const Setting& setting) {
  const std::size_t part_bytes = pages_a_part(setting) * Vectors::page_bytes;
  const std::size_t bytes = part_bytes * static_cast<std::size_t>(setting.threads);
  const int repeats = setting.place == Place::in_cache ? 64 : 1;
  const std::uint32_t streams = std::min(setting.leaves, max_operands);
  const std::uint32_t passes = setting.leaves / streams;
  const bool is_long_double = setting.type == Datatype::long_double || setting.type == Datatype::complex_long_double ||
                              setting.type == Datatype::long_double_int;
  Vectors vectors(setting.leaves + 1, bytes, is_long_double ? Vectors::Elements::long_double : Vectors::Elements::any);
  const auto inputs_of = [&](std::size_t thread) {
    std::vector<const void*> inputs;
    for (std::uint32_t i = 0; i < setting.leaves; ++i) inputs.push_back(vectors.part(i + 1, thread * part_bytes));
    return inputs;
  };
  std::vector<std::vector<const void*>> inputs;
  for (std::size_t thread = 0; thread < static_cast<std::size_t>(setting.threads); ++thread)
    inputs.push_back(inputs_of(thread));
  const Tree tree(flat_layout(setting.leaves));
  // The triad's vectors: a third of all memory each.
  const std::size_t triad_elements = (setting.leaves + 1) * part_bytes / sizeof(double) / 3;
  const KernelTable& table = *kernel_table(setting.isa);
  const LoopOver over = loop_of(setting.isa, setting.type, streams);
  const std::size_t elements = part_bytes / datatype_bytes(setting.type);

  const BoundLoop bound_loop =
      setting.op == Op::sum && passes == 1 ? bound_loop_of(setting.isa, setting.type, streams) : nullptr;

  Turns kernel_turns, loop_turns, bound_turns, triad_turns;
  for (auto _ : state) {
    state.SetIterationTime(kernel_turns.time(setting.threads, repeats, [&](std::size_t thread) {
      tree.evaluate(table, {setting.type, setting.op, elements}, inputs[thread].data(),
                    vectors.part(0, thread * part_bytes));
    }));
    loop_turns.time(setting.threads, repeats, [&](std::size_t thread) {
      for (std::uint32_t i = 0; i < passes; ++i)
        over.loop(&inputs[thread][i * streams], vectors.part(0, thread * part_bytes), part_bytes / over.element_bytes);
    });
    if (bound_loop != nullptr) {
      bound_turns.time(setting.threads, repeats, [&](std::size_t thread) {
        bound_loop(reinterpret_cast<const std::byte* const*>(inputs[thread].data()),
                   static_cast<std::byte*>(vectors.part(0, thread * part_bytes)), part_bytes);
      });
    }
    triad_turns.time(setting.threads, repeats, [&](std::size_t thread) {
      auto* const a = static_cast<double*>(vectors.part(0, 0)) + 3 * thread * triad_elements;
      triad(a, a + triad_elements, a + 2 * triad_elements, triad_elements);
    });
  }
  const double moved = static_cast<double>(bytes);
  const double kernel_rate = kernel_turns.gigabytes_per_second(moved * (setting.leaves + 1));
  const double loop_rate = loop_turns.gigabytes_per_second(moved * (streams + 1) * passes);
  state.counters["kernel_GBps"] = kernel_rate;
  state.counters["loop_GBps"] = loop_rate;
  state.counters["triad_GBps"] =
      triad_turns.gigabytes_per_second(static_cast<double>(3 * triad_elements) * setting.threads * sizeof(double));
  state.counters["percent_of_loop"] = 100 * kernel_rate / loop_rate;
  if (bound_loop == nullptr) return;
  const double bound_rate = bound_turns.gigabytes_per_second(moved * (setting.leaves + 1));
  state.counters["bound_GBps"] = bound_rate;
  state.counters["percent_of_bound"] = 100 * kernel_rate / bound_rate;
}

void add(const Setting& setting) {
  benchmark::RegisterBenchmark(setting.name().c_str(), [setting](benchmark::State& state) { run(state, setting); })
      ->UseManualTime()
      ->MinTime(0.05);
}

Isa best_isa() {
  Isa best = Isa::baseline;
  for (Isa isa : all_isas) {
    if (kernel_table(isa) != nullptr) best = isa;
  }
  return best;
}

// A type's first operation (sums, where it has them) with every number of leaves, its others with some; and sums of
// float32 with other instruction sets and in larger trees.
void add_all(Place place, int threads) {
  const Isa best = best_isa();
  for (std::uint8_t t = 0; t < datatype_count; ++t) {
    const auto type = static_cast<Datatype>(t);
    bool first = true;
    for (std::uint8_t o = 0; o < op_count; ++o) {
      const auto op = static_cast<Op>(o);
      if (!op_supports(op, type)) continue;
      for (std::uint32_t leaves = 2; leaves <= max_operands; ++leaves) {
        if (first || leaves == 2 || leaves == 8 || leaves == 16) add({type, op, leaves, place, best, threads});
      }
      first = false;
    }
  }
  for (std::uint32_t leaves : {2u, 8u, 16u}) {
    for (Isa isa : all_isas) {
      if (isa != best && kernel_table(isa) != nullptr) add({Datatype::float32, Op::sum, leaves, place, isa, threads});
    }
  }
  for (std::uint32_t leaves : {17u, 24u, 40u, 64u, 1000u})
    add({Datatype::float32, Op::sum, leaves, place, best, threads});
}

}  // namespace
}  // namespace hps

int main(int argc, char** argv) {
  for (int threads : {1, omp_get_num_procs()}) {
    hps::add_all(hps::Place::in_cache, threads);
    hps::add_all(hps::Place::out_of_cache, threads);
    if (omp_get_num_procs() == 1) break;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
