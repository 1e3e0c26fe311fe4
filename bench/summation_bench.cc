// SPDX-License-Identifier: BSD-3-Clause
// How fast the kernels sum, beside what the machine moves anyway: a plain loop that reads as many streams and writes
// one, and STREAM's triad. The three take turns, for a machine's speed drifts; figures are medians over the turns, in
// GB moved a second (n reads and one write an element).
//
//   bench/summation_bench --benchmark_filter=float32/sum
//
// Names are datatype/op/leaves/place/instruction set. In cache a vector has 16 KB (4 KB with more than 16 leaves); out
// of cache all vectors together have 256 MB. Trees of more than 16 leaves are held against passes of the loop over 16
// streams each.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "summation/kernels.h"
#include "summation/tree.h"

// The loops must be vectorised whatever the build's optimisation level, to be worth comparing with.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

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

Loop loop_of(Isa isa, Datatype type, std::uint32_t n) {
  constexpr auto up_to_max = std::make_index_sequence<max_operands - 1>();
  switch (type) {
#define HPS_DATATYPE(name, ctype) \
  case Datatype::name:            \
    return loop_of<ctype>(isa, n, up_to_max);
#include "util/datatypes.def"
#undef HPS_DATATYPE
  }
  return nullptr;
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

  std::string name() const {
    return std::string(datatype_name(type)) + '/' + op_name(op) + '/' + std::to_string(leaves) +
           (place == Place::in_cache ? "/in_cache/" : "/out_of_cache/") + isa_name(isa);
  }
};

// leaves + 1 page-aligned vectors, written once so that each page is there.
class Vectors {
 public:
  Vectors(std::uint32_t count, std::size_t bytes)
      : memory_(static_cast<std::byte*>(std::aligned_alloc(page_bytes, count * bytes))), bytes_(bytes) {
    std::fill_n(memory_.get(), count * bytes, std::byte{0x3f});  // floats below 1, no denormals
  }
  void* vector(std::uint32_t i) { return memory_.get() + i * bytes_; }

  static constexpr std::size_t page_bytes = 4096;

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t bytes_;
};

// The times of one of the three contestants.
class Turns {
 public:
  template <class Work>
  double time(int repeats, const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) {
      work();
      benchmark::ClobberMemory();
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

void run(benchmark::State& state, const Setting& setting) {
  const bool in_cache = setting.place == Place::in_cache;
  const std::size_t pages_in_cache = setting.leaves <= max_operands ? 4 : 1;
  const std::size_t pages_out_of_cache = out_of_cache_bytes / (setting.leaves + 1) / Vectors::page_bytes;
  const std::size_t bytes = (in_cache ? pages_in_cache : pages_out_of_cache) * Vectors::page_bytes;
  const std::size_t elements = bytes / datatype_bytes(setting.type);
  const int repeats = in_cache ? 64 : 1;
  const std::uint32_t streams = std::min(setting.leaves, max_operands);
  const std::uint32_t passes = setting.leaves / streams;
  Vectors vectors(setting.leaves + 1, bytes);
  std::vector<const void*> inputs;
  for (std::uint32_t i = 0; i < setting.leaves; ++i) inputs.push_back(vectors.vector(i + 1));
  const Tree tree(flat_layout(setting.leaves));
  double* const a = static_cast<double*>(vectors.vector(0));  // the triad's vectors: a third of the memory each
  const std::size_t triad_elements = (setting.leaves + 1) * bytes / sizeof(double) / 3;
  const KernelTable& table = *kernel_table(setting.isa);
  const Loop loop = loop_of(setting.isa, setting.type, streams);

  Turns kernel_turns, loop_turns, triad_turns;
  for (auto _ : state) {
    state.SetIterationTime(kernel_turns.time(repeats, [&] {
      tree.evaluate(table, {setting.type, setting.op, elements}, inputs.data(), vectors.vector(0));
    }));
    loop_turns.time(repeats, [&] {
      for (std::uint32_t i = 0; i < passes; ++i) loop(&inputs[i * streams], vectors.vector(0), elements);
    });
    triad_turns.time(repeats, [&] { triad(a, a + triad_elements, a + 2 * triad_elements, triad_elements); });
  }
  const double moved = static_cast<double>(bytes);
  const double kernel_rate = kernel_turns.gigabytes_per_second(moved * (setting.leaves + 1));
  const double loop_rate = loop_turns.gigabytes_per_second(moved * (streams + 1) * passes);
  state.counters["kernel_GBps"] = kernel_rate;
  state.counters["loop_GBps"] = loop_rate;
  state.counters["triad_GBps"] =
      triad_turns.gigabytes_per_second(static_cast<double>(3 * triad_elements * sizeof(double)));
  state.counters["percent_of_loop"] = 100 * kernel_rate / loop_rate;
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

// Sums of every type, with the best kernels; and of float32 the other operations, instruction sets and larger trees.
void add_all(Place place) {
  const Isa best = best_isa();
  for (std::uint8_t type = 0; type < datatype_count; ++type) {
    for (std::uint32_t leaves = 2; leaves <= max_operands; ++leaves) {
      add({static_cast<Datatype>(type), Op::sum, leaves, place, best});
    }
  }
  for (std::uint32_t leaves : {2u, 8u, 16u}) {
    for (Op op : {Op::prod, Op::min, Op::max}) add({Datatype::float32, op, leaves, place, best});
    for (Isa isa : all_isas) {
      if (isa != best && kernel_table(isa) != nullptr) add({Datatype::float32, Op::sum, leaves, place, isa});
    }
  }
  for (std::uint32_t leaves : {17u, 24u, 40u, 64u, 1000u}) add({Datatype::float32, Op::sum, leaves, place, best});
}

}  // namespace
}  // namespace hps

int main(int argc, char** argv) {
  hps::add_all(hps::Place::in_cache);
  hps::add_all(hps::Place::out_of_cache);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
