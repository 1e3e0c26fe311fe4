// SPDX-License-Identifier: BSD-3-Clause
// Results are bitwise the same on every rank and in every run, whatever the number of CPU-only ranks, the chunk size,
// the window, the algorithm, the link rates and the message size: namely what the canonical tree gives, which is
// evaluated here by the serial reference.
//
// The contributions are floats of widely different exponents, so that every other order of operations gives other bits.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "harness.h"
#include "hps.h"
#include "jobs.h"
#include "oracle.h"
#include "reference/tree.h"

namespace hps::test {
namespace {

// Any exponents; for MIN and MAX now and then what they must take care with.
template <class T>
std::vector<T> wide_values(Op op, int member, std::size_t count) {
  reference::Random random(static_cast<std::uint64_t>(member) * 1000003 + static_cast<std::uint64_t>(op));
  std::vector<T> values;
  const bool special = op != Op::sum && op != Op::prod;
  while (values.size() < count)
    values.push_back(special ? reference::any_value<T>(random) : reference::ordinary_value<T>(random));
  return values;
}

// The workers on their nodes, in the order of the nodes' first workers.
Layout worker_layout(const Placement& placement) {
  Layout layout;
  std::vector<int> names;
  std::uint32_t member = 0;
  for (const Seat& seat : placement.seats) {
    if (seat.cpu_only) continue;
    const auto at = std::find(names.begin(), names.end(), seat.node);
    if (at == names.end()) {
      names.push_back(seat.node);
      layout.nodes.push_back({{{{member++}}}});
    } else {
      layout.nodes[static_cast<std::size_t>(at - names.begin())].switches[0].members.push_back(member++);
    }
  }
  return layout;
}

std::uint32_t members_of(const Layout& layout) {
  std::uint32_t members = 0;
  for (const Layout::Node& node : layout.nodes) members += static_cast<std::uint32_t>(node.switches[0].members.size());
  return members;
}

template <class T>
std::vector<T> tree_result(Op op, const Layout& layout, std::size_t count) {
  std::vector<std::vector<T>> values;
  for (std::uint32_t member = 0; member < members_of(layout); ++member)
    values.push_back(wide_values<T>(op, static_cast<int>(member), count));
  return reference::evaluate(layout, op, values);
}

template <class T>
void check_bits(MPI_Comm workers, MPI_Datatype datatype, Op op, const std::vector<T>& right) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  MPI_Type_get_name(datatype, name, &length);
  const Where where(std::string(op_name(op)) + " of " + std::to_string(right.size()) + ' ' + name);
  int member = 0;
  MPI_Comm_rank(workers, &member);
  const std::vector<std::byte> own = in_memory(wide_values<T>(op, member, right.size()));
  for (int run = 0; run < 2; ++run) {
    GuardedBuffer receive(own.size());
    HPS_EXPECT_OK(HPS_Allreduce_hetero(own.data(), receive.data(), static_cast<int>(right.size()), datatype, mpi_op(op),
                                       workers));
    const std::string difference = first_difference(receive.data(), right, Op::sum);
    HPS_EXPECT(difference.empty(), difference);
  }
}

constexpr std::size_t counts[] = {1, 7, 1021, 30011};
constexpr Op float_ops[] = {Op::sum, Op::prod, Op::min, Op::max};

// What must be right in every job with the same workers on the same nodes: of a type and an operation, by count.
template <class T>
struct Results {
  MPI_Datatype datatype;
  Op op;
  std::vector<T> values[std::size(counts)];

  Results(MPI_Datatype datatype_, Op op_, const Layout& layout) : datatype(datatype_), op(op_) {
    for (std::size_t c = 0; c < std::size(counts); ++c) values[c] = tree_result<T>(op, layout, counts[c]);
  }
  void check(MPI_Comm workers) const {
    for (const std::vector<T>& right : values) check_bits(workers, datatype, op, right);
  }
};

// Floats with every operation, and one of each type in which the order or the roundings show.
struct AllResults {
  std::vector<Results<float>> floats;
  Results<double> doubles;
  Results<long double> long_doubles;
  Results<Float16> halves;
  Results<Bfloat16> bfloats;
  Results<std::complex<float>> products;

  explicit AllResults(const Layout& layout)
      : doubles(MPI_DOUBLE, Op::sum, layout),
        long_doubles(MPI_LONG_DOUBLE, Op::sum, layout),
        halves(HPS_FLOAT16, Op::sum, layout),
        bfloats(HPS_BFLOAT16, Op::sum, layout),
        products(MPI_C_COMPLEX, Op::prod, layout) {
    for (Op op : float_ops) floats.emplace_back(MPI_FLOAT, op, layout);
  }
  void check(MPI_Comm workers) const {
    for (const Results<float>& one : floats) one.check(workers);
    doubles.check(workers);
    long_doubles.check(workers);
    halves.check(workers);
    bfloats.check(workers);
    products.check(workers);
  }
};

void check_job(const Placement& placement, const Settings& settings, const AllResults& right) {
  std::string all = "settings";
  for (const auto& [key, value] : settings) all.append(" ").append(key).append("=").append(value);
  const Where where(all);
  run_job(placement, settings, [&](MPI_Comm workers) { right.check(workers); });
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
  const AllResults right(worker_layout(placement));
  for (int most : {0, 1}) {
    if (most < cpu_only) check_job(with_cpu_only(placement, most), {}, right);
  }
  std::vector<Settings> variations = {{},
                                      {{"hps_algorithm", "direct"}, {"hps_chunk", "1K"}, {"hps_window", "3"}},
                                      {{"hps_chunk", "60K"}, {"hps_window", "100"}},
                                      unequal_rate(placement)};
#ifdef _OPENMP
  variations.push_back({{"hps_algorithm", "direct"}, {"hps_threads", "3"}});
#endif
#define HPS_ALGORITHM(collective, name, summed_by) variations.push_back({{"hps_algorithm", #name}});
#include "coll/algorithms.def"
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
