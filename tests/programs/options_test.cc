// SPDX-License-Identifier: BSD-3-Clause
#include "perf/options.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hps::perf {
namespace {

using Arguments = std::vector<std::string>;

Options parsed(const Arguments& arguments) {
  Options options;
  const Status status = parse_options(arguments, &options);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return options;
}

// The error's text; the options must be as they were.
std::string error_of(const Arguments& arguments) {
  Options options;
  options.iterations = 4711;
  const Options before = options;
  const Status status = parse_options(arguments, &options);
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_EQ(options, before);
  return status.to_string();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(OptionsTest, DefaultsAreThoseOfTheHelp) {
  const Options options = parsed({"allreduce_hetero"});
  EXPECT_EQ(options, Options());
  EXPECT_EQ(options.action, Action::measure);
  EXPECT_TRUE(contains(help_text(), "the smallest message (default " + std::to_string(options.min_bytes) + ")"));
  EXPECT_TRUE(contains(help_text(), "the largest message (default 32M)"));
  EXPECT_EQ(options.max_bytes, 32u << 20);
  EXPECT_TRUE(contains(help_text(), "(default " + std::to_string(options.iterations) + ")"));
  EXPECT_TRUE(contains(help_text(), "(default " + std::to_string(options.warmup) + ")"));
}

TEST(OptionsTest, EveryFlagInEverySpelling) {
  const Options letters = parsed({"-b",          "64K",     "-e",
                                  "2M",          "-f",      "4",
                                  "-n",          "7",       "-w",
                                  "0",           "-t",      "int8",
                                  "-o",          "max",     "--in-place",
                                  "--no-check",  "--json",  "out.json",
                                  "--link-rate", "100mbit", "--vs-mpi",
                                  "--predict",   "--skew",  "100",
                                  "--groups",    "2",       "allreduce_hetero"});
  EXPECT_EQ(letters.min_bytes, 64u << 10);
  EXPECT_EQ(letters.max_bytes, 2u << 20);
  EXPECT_EQ(letters.factor, 4u);
  EXPECT_EQ(letters.iterations, 7u);
  EXPECT_EQ(letters.warmup, 0u);
  EXPECT_EQ(letters.datatype, Datatype::int8);
  EXPECT_EQ(letters.op, Op::max);
  EXPECT_TRUE(letters.in_place);
  EXPECT_FALSE(letters.check);
  EXPECT_EQ(letters.json_file, "out.json");
  EXPECT_DOUBLE_EQ(letters.link_rate, 12.5e6);
  EXPECT_TRUE(letters.vs_mpi);
  EXPECT_TRUE(letters.predict);
  EXPECT_EQ(letters.skew_ms, 100u);
  EXPECT_EQ(letters.groups, 2u);
  const Options names =
      parsed({"allreduce_hetero", "--min-bytes=64K", "--max-bytes", "2M", "--factor=4", "--iterations=7", "--warmup",
              "0", "--datatype=int8", "--op=max", "--in-place", "--no-check", "--json=out.json", "--link-rate=100mbit",
              "--vs-mpi", "--predict", "--skew=100", "--groups=2"});
  EXPECT_EQ(names, letters);
}

TEST(OptionsTest, EveryDatatypeAndOpByName) {
  for (std::uint8_t i = 0; i < datatype_count; ++i) {
    const auto type = static_cast<Datatype>(i);
    EXPECT_TRUE(contains(help_text(), datatype_name(type)));
    for (std::uint8_t j = 0; j < op_count; ++j) {
      const auto op = static_cast<Op>(j);
      if (!op_supports(op, type)) continue;
      const Options both = parsed({"allreduce_hetero", "-t", datatype_name(type), "-o", op_name(op)});
      EXPECT_EQ(both.datatype, type);
      EXPECT_EQ(both.op, op);
    }
  }
  for (std::uint8_t i = 0; i < op_count; ++i) EXPECT_TRUE(contains(help_text(), op_name(static_cast<Op>(i))));
  EXPECT_EQ(parsed({"allreduce_hetero", "-t", "float"}).datatype, Datatype::float32);
  EXPECT_EQ(parsed({"allreduce_hetero", "-t", "double"}).datatype, Datatype::float64);
}

TEST(OptionsTest, TheLastOfEqualFlagsCounts) {
  EXPECT_EQ(parsed({"allreduce_hetero", "-n", "3", "-n", "9"}).iterations, 9u);
  EXPECT_TRUE(parsed({"allreduce_hetero", "--no-check", "--check"}).check);
}

TEST(OptionsTest, HelpAndVersionNeedNothingElse) {
  EXPECT_EQ(parsed({"--help"}).action, Action::help);
  EXPECT_EQ(parsed({"allreduce_hetero", "-V", "--nonsense"}).action, Action::version);
}

TEST(OptionsTest, ErrorsNameTheArgumentAndWhatWouldBeRight) {
  const struct {
    Arguments arguments;
    std::string says;
  } cases[] = {
      {{}, "no collective is given: expected allreduce_hetero"},
      {{"allreduce"}, "collective allreduce: expected allreduce_hetero"},
      {{"allreduce_hetero", "allreduce_hetero"}, "given twice"},
      {{"allreduce_hetero", "--vs"}, "unknown option --vs"},
      {{"allreduce_hetero", "-b8"}, "unknown option -b8"},
      {{"allreduce_hetero", "-"}, "unknown option -"},
      {{"allreduce_hetero", "-b"}, "option -b needs a value: expected a size"},
      {{"allreduce_hetero", "-b", "8x"}, "option -b 8x: expected a size"},
      {{"allreduce_hetero", "-b", "0"}, "option -b 0: expected a size"},
      {{"allreduce_hetero", "-e", "-1"}, "option -e -1: expected a size"},
      {{"allreduce_hetero", "-f", "1"}, "option -f 1: expected a whole number of 2 or more"},
      {{"allreduce_hetero", "-n", "0"}, "option -n 0: expected a whole number of 1 or more"},
      {{"allreduce_hetero", "-n", "4294967296"}, "option -n 4294967296"},
      {{"allreduce_hetero", "-w", "1.5"}, "option -w 1.5: expected a whole number of 0 or more"},
      {{"allreduce_hetero", "--skew", "0"}, "option --skew 0: expected a whole number of milliseconds, 1 or more"},
      {{"allreduce_hetero", "--groups", "two"}, "option --groups two: expected a whole number of 1 or more"},
      {{"allreduce_hetero", "-t", "half"}, "option -t half: expected float32"},
      {{"allreduce_hetero", "-o", "avg"}, "option -o avg: expected one of sum prod min max"},
      {{"allreduce_hetero", "--link-rate", "100"}, "option --link-rate 100: expected a link rate"},
      {{"allreduce_hetero", "--json="}, "option --json : expected the name of a file"},
      {{"allreduce_hetero", "--vs-mpi=yes"}, "option --vs-mpi takes no value"},
      {{"allreduce_hetero", "-b", "2M", "-e", "1M"}, "the smallest message, 2M, is larger than the largest, 1M"},
      {{"allreduce_hetero", "-b", "4", "-t", "double"}, "shorter than one float64"},
      {{"allreduce_hetero", "-t", "float16", "-o", "band"}, "the operation band is not defined on float16"},
      {{"allreduce_hetero", "-t", "bfloat16", "--vs-mpi"}, "MPI has no bfloat16 to measure"},
      {{"allreduce_hetero", "-e", "2G", "-t", "int8"}, "more than 2147483647 elements"},
  };
  for (const auto& [arguments, says] : cases) {
    const std::string error = error_of(arguments);
    EXPECT_TRUE(contains(error, says)) << error << " does not say " << says;
  }
}

TEST(OptionsTest, TheListHasEveryTypeWithItsOperations) {
  EXPECT_EQ(parsed({"--list"}).action, Action::list);
  const std::string list = list_text();
  EXPECT_EQ(std::count(list.begin(), list.end(), '\n'), datatype_count);
  EXPECT_TRUE(list.starts_with("float32: sum prod min max\n")) << list;
  EXPECT_TRUE(contains(list, "\nboolean: land lor lxor\n")) << list;
  EXPECT_TRUE(contains(list, "\nint_int: minloc maxloc\n")) << list;
}

TEST(OptionsTest, TheDefaultMinimumIsAnElementOrMore) {
  EXPECT_EQ(parsed({"allreduce_hetero", "-t", "complex128"}).min_bytes, 16u);
  EXPECT_EQ(parsed({"allreduce_hetero", "-t", "int8"}).min_bytes, 8u);
}

TEST(OptionsTest, AMinimumAloneMayExceedTheDefaultMaximum) {
  EXPECT_EQ(parsed({"allreduce_hetero", "-b", "64M"}).max_bytes, 64u << 20);
}

TEST(OptionsTest, CountsGoFromMinimumToMaximumInWholeElements) {
  const auto counts = [](const Arguments& arguments) { return element_counts(parsed(arguments)); };
  using Counts = std::vector<std::uint64_t>;
  EXPECT_EQ(counts({"allreduce_hetero", "-b", "8", "-e", "64"}), (Counts{2, 4, 8, 16}));
  EXPECT_EQ(counts({"allreduce_hetero", "-b", "7", "-e", "60", "-f", "3"}), (Counts{1, 5}));
  EXPECT_EQ(counts({"allreduce_hetero", "-b", "16", "-e", "16", "-t", "double"}), (Counts{2}));
  // 8G times 2^31 is 0 in 64 bits.
  EXPECT_EQ(counts({"allreduce_hetero", "-b", "8G", "-t", "double", "-f", "2147483648"}), (Counts{1u << 30}));
}

}  // namespace
}  // namespace hps::perf
