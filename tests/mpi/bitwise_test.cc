// SPDX-License-Identifier: BSD-3-Clause
// Results are bitwise the same on every rank and in every run, whatever the number of CPU-only ranks, the chunk size,
// the window, the algorithm, the link rates and the message size: namely what the canonical tree gives, which is
// evaluated here a second time, from its description in src/summation/tree.h and not from its code.
//
// The contributions are floats of widely different exponents, so that every other order of operations gives other bits.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "harness.h"
#include "hps.h"
#include "jobs.h"
#include "oracle.h"

namespace hps::test {
namespace {

template <class T>
T combine_in_order(TestOp op, T left, T right) {
  T result;
  switch (op) {
    case TestOp::sum:
      result = left + right;
      break;
    case TestOp::prod:
      result = left * right;
      break;
    default:
      if (std::isnan(left) || std::isnan(right)) return std::numeric_limits<T>::quiet_NaN();
      const bool left_is_less = left < right || (left == right && std::signbit(left));
      result = left_is_less == (op == TestOp::min) ? left : right;
  }
  return std::isnan(result) ? std::numeric_limits<T>::quiet_NaN() : result;
}

template <class T>
using Vector = std::vector<T>;

template <class T>
Vector<T> combine_in_order(TestOp op, const Vector<T>& left, const Vector<T>& right) {
  Vector<T> result(left.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = combine_in_order(op, left[i], right[i]);
  return result;
}

// One level of the tree: pairs first, until a power of two is left; then neighbours, until one is left.
template <class T>
Vector<T> canonical(TestOp op, const std::vector<Vector<T>>& operands) {
  const std::size_t pairs = operands.size() - std::bit_floor(operands.size());
  std::vector<Vector<T>> left;
  for (std::size_t i = 0; i < operands.size(); i += i < 2 * pairs ? 2 : 1)
    left.push_back(i < 2 * pairs ? combine_in_order(op, operands[i], operands[i + 1]) : operands[i]);
  for (; left.size() > 1; left.resize(left.size() / 2)) {
    for (std::size_t i = 0; i < left.size() / 2; ++i) left[i] = combine_in_order(op, left[2 * i], left[2 * i + 1]);
  }
  return left.front();
}

// Any exponent for sums; for products such that none overflows; and now and then what MIN and MAX must take care with.
template <class T>
T wide_value(TestOp op, int member, std::size_t i) {
  const std::uint64_t bits = mix(static_cast<std::uint64_t>(member) * 1000003 + i);
  const bool special = op == TestOp::min || op == TestOp::max;
  const T specials[] = {T(0), -T(0), std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                        -std::numeric_limits<T>::denorm_min()};
  if (special && bits % 3 == 0) return specials[bits / 3 % 5];
  const int range = op == TestOp::prod ? 8 : 40;
  const T mantissa = T(1) + static_cast<T>(bits >> 40) / static_cast<T>(1 << 24);
  const T value = std::ldexp(mantissa, static_cast<int>(bits % static_cast<unsigned>(2 * range)) - range);
  return (bits >> 20 & 1) != 0 ? -value : value;
}

// The nodes of the workers, by worker: nodes in the order of their first worker.
std::vector<std::vector<int>> worker_nodes(const Placement& placement) {
  std::vector<std::vector<int>> nodes;
  std::vector<int> names;
  int member = 0;
  for (const Seat& seat : placement.seats) {
    if (seat.cpu_only) continue;
    const auto at = std::find(names.begin(), names.end(), seat.node);
    if (at == names.end()) {
      names.push_back(seat.node);
      nodes.push_back({member++});
    } else {
      nodes[static_cast<std::size_t>(at - names.begin())].push_back(member++);
    }
  }
  return nodes;
}

template <class T>
Vector<T> wide_values(TestOp op, int member, std::size_t count) {
  Vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = wide_value<T>(op, member, i);
  return values;
}

template <class T>
Vector<T> tree_result(TestOp op, const std::vector<std::vector<int>>& nodes, std::size_t count) {
  std::vector<Vector<T>> sums;
  for (const std::vector<int>& node : nodes) {
    std::vector<Vector<T>> values;
    for (int member : node) values.push_back(wide_values<T>(op, member, count));
    sums.push_back(canonical(op, values));
  }
  return canonical(op, sums);
}

template <class T>
void check_bits(MPI_Comm workers, MPI_Datatype datatype, TestOp op, const Vector<T>& right) {
  const Where where(std::string(op_name(op)) + " of " + std::to_string(right.size()) + " elements of " +
                    std::to_string(sizeof(T)) + " bytes");
  int member = 0;
  MPI_Comm_rank(workers, &member);
  const Vector<T> own = wide_values<T>(op, member, right.size());
  for (int run = 0; run < 2; ++run) {
    GuardedBuffer receive(own.size() * sizeof(T));
    HPS_EXPECT_OK(
        HPS_Allreduce_hetero(own.data(), receive.data(), static_cast<int>(own.size()), datatype, mpi_op(op), workers));
    HPS_EXPECT(receive.holds(right.data()), first_difference(receive.data(), right));
  }
}

constexpr std::size_t counts[] = {1, 7, 1021, 30011};

// What must be right in every job with the same workers on the same nodes.
struct Results {
  Vector<float> floats[4][std::size(counts)];  // by operation and count
  Vector<double> doubles[std::size(counts)];   // sums

  explicit Results(const std::vector<std::vector<int>>& nodes) {
    for (std::size_t c = 0; c < std::size(counts); ++c) {
      for (TestOp op : all_ops) floats[static_cast<int>(op)][c] = tree_result<float>(op, nodes, counts[c]);
      doubles[c] = tree_result<double>(TestOp::sum, nodes, counts[c]);
    }
  }
};

void check_job(const Placement& placement, const Settings& settings, const Results& right) {
  std::string all = "settings";
  for (const auto& [key, value] : settings) all.append(" ").append(key).append("=").append(value);
  const Where where(all);
  run_job(placement, settings, [&](MPI_Comm workers) {
    for (std::size_t c = 0; c < std::size(counts); ++c) {
      for (TestOp op : all_ops) check_bits(workers, MPI_FLOAT, op, right.floats[static_cast<int>(op)][c]);
      check_bits(workers, MPI_DOUBLE, TestOp::sum, right.doubles[c]);
    }
  });
}

// Rates that differ from node to node: shares are then all different.
Settings unequal_rate(const Placement& placement) {
  const Seat& seat = placement.seats[static_cast<std::size_t>(world_rank())];
  return {{"hps_link_rate", std::to_string(100 + 70 * (seat.node * 5 % 7)) + "mbit"}};
}

// The placement with no more than `most` CPU-only ranks; the others stay out of the job.
Placement with_cpu_only(Placement placement, int most) {
  for (Seat& seat : placement.seats) seat.absent = seat.cpu_only && --most < 0;
  return placement;
}

// The workers stay where they are, and all that may not change a bit is changed.
void test_placement(const Placement& placement, int cpu_only) {
  const Results right(worker_nodes(placement));
  for (int most : {0, 1}) {
    if (most < cpu_only) check_job(with_cpu_only(placement, most), {}, right);
  }
  const Settings variations[] = {{},
                                 {{"hps_algorithm", "direct"}},
                                 {{"hps_algorithm", "recursive_doubling"}},
                                 {{"hps_algorithm", "direct"}, {"hps_chunk", "1K"}, {"hps_window", "3"}},
                                 {{"hps_chunk", "60K"}, {"hps_window", "100"}},
                                 unequal_rate(placement)};
  for (const Settings& settings : variations) check_job(placement, settings, right);
}

// Of each number of workers two placements: every rank a node of its own, and one that changes with the number.
void test_all() {
  for (int workers = 1; workers <= world_size(); ++workers) {
    const std::vector<Placement> all = placements(world_size(), workers);
    const std::size_t other = 1 + static_cast<std::size_t>(workers) % 4;
    test_placement(all[0], world_size() - workers);
    if (other < all.size()) test_placement(all[other], world_size() - workers);
  }
}

}  // namespace
}  // namespace hps::test

int main(int argc, char** argv) { return hps::test::run(&argc, &argv, MPI_THREAD_SINGLE, hps::test::test_all); }
