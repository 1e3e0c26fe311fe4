// SPDX-License-Identifier: BSD-3-Clause
#include "perf/report.h"

#include <gtest/gtest.h>

#include <sstream>

namespace hps::perf {
namespace {

Result full_result() {
  Result result;
  result.algorithm = "direct";
  result.n = 8;
  result.k = 4;
  result.ranks = 16;
  result.bytes = 67108864;
  result.datatype = Datatype::float64;
  result.op = Op::max;
  result.iterations = 20;
  result.time = {7000000.5, 6900000.25, 7100000.125};
  result.mean_us = 7000000;
  result.algbw_GBps = 0.009587;
  result.bound_us = 6834406.4;
  result.percent_of_bound = 97.634;
  result.cpu_ns_per_wire_byte = 4.5;
  result.mpi_time_us = 14000001;
  result.speedup_vs_mpi = 2;
  result.wrong = 3;
  return result;
}

TEST(ReportTest, JsonHasExactlyTheAgreedFields) {
  EXPECT_EQ(
      json_line(full_result()),
      R"({"collective": "allreduce_hetero", "algorithm": "direct", "n": 8, "k": 4, "ranks": 16, )"
      R"("bytes": 67108864, "datatype": "float64", "op": "max", "iterations": 20, )"
      R"("time_us": 7000000.500, "time_min_us": 6900000.250, "time_max_us": 7100000.125, "algbw_GBps": 0.009587, )"
      R"("bound_us": 6834406.400, "percent_of_bound": 97.63, "mpi_time_us": 14000001.000, )"
      R"("speedup_vs_mpi": 2.0000, "wrong": 3})");
}

TEST(ReportTest, JsonAndTableTellTheGroupWhereThereIsMoreThanOne) {
  Result result = full_result();
  result.group = 1;
  EXPECT_TRUE(json_line(result).ends_with(R"("wrong": 3, "group": 1})"));
  EXPECT_TRUE(table_line(Options(), result).ends_with("  direct, 1\n"));
}

TEST(ReportTest, JsonSaysNullForWhatIsNotKnown) {
  Result result = full_result();
  result.bound_us.reset();
  result.percent_of_bound.reset();
  result.mpi_time_us.reset();
  result.speedup_vs_mpi.reset();
  result.wrong.reset();
  const std::string line = json_line(result);
  EXPECT_NE(line.find(R"("bound_us": null, "percent_of_bound": null, "mpi_time_us": null, "speedup_vs_mpi": null, )"
                      R"("wrong": null})"),
            std::string::npos)
      << line;
}

std::size_t words(const std::string& line) {
  std::istringstream stream(line);
  std::string word;
  std::size_t count = 0;
  while (stream >> word) ++count;
  return count;
}

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of('\n');
  const auto start = text.find_last_of('\n', end);
  return text.substr(start + 1, end - start);
}

TEST(ReportTest, ATableLineHasAValueForEveryColumn) {
  Result nothing_known;
  nothing_known.algorithm = "direct";
  for (const bool vs_mpi : {false, true}) {
    Options options;
    options.vs_mpi = vs_mpi;
    const std::string head = table_head("HPS 1, MPI 2", options, {8, 4, 16, 0, -1, {}});
    const std::string columns = last_line(head);
    EXPECT_EQ(words(columns.substr(1)), words(table_line(options, full_result())));
    EXPECT_EQ(words(columns.substr(1)), words(table_line(options, nothing_known)));
  }
}

TEST(ReportTest, EveryPredictionHasItsLine) {
  Result result = full_result();
  result.k = 6;
  EXPECT_EQ(prediction_lines(result),
            "#   k=7 would take 6603774.1 us, 1.06 times as fast\n"
            "#   k=8 would take 6250000.4 us, 1.12 times as fast\n");
  result.k = 8;
  EXPECT_EQ(prediction_lines(result), "#   more CPU-only nodes would bring nothing\n");
}

TEST(ReportTest, TheHeadTellsWhatIsMeasured) {
  Options options;
  options.in_place = true;
  options.link_rate = 12.5e6;
  const std::string head = table_head("HPS 1, MPI 2", options, {8, 4, 16, 0, -1, {}});
  EXPECT_NE(head.find("# HPS 1, MPI 2\n"), std::string::npos);
  EXPECT_NE(head.find("float32 sum in place, 20 calls after 5"), std::string::npos);
  EXPECT_NE(head.find("n=8 worker nodes (16 ranks), k=4 CPU-only nodes, links of 100mbit"), std::string::npos);
}

}  // namespace
}  // namespace hps::perf
