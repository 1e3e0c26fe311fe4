// SPDX-License-Identifier: BSD-3-Clause
#include "util/types.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <string>

namespace hps {
namespace {

struct TypeOnTheWire {
  int number;
  const char* name;
  std::size_t bytes;
};

// What ranks tell each other: a number that changes its meaning makes two releases of HPS sum nonsense.
TEST(TypesTest, DatatypeNumbersAreForGood) {
  constexpr TypeOnTheWire expected[] = {{0, "float32", 4},
                                        {1, "float64", 8},
                                        {2, "int8", 1},
                                        {3, "int16", 2},
                                        {4, "int32", 4},
                                        {5, "int64", 8},
                                        {6, "uint8", 1},
                                        {7, "uint16", 2},
                                        {8, "uint32", 4},
                                        {9, "uint64", 8},
                                        {10, "float16", 2},
                                        {11, "bfloat16", 2},
                                        {12, "long_double", sizeof(long double)},
                                        {13, "complex64", 8},
                                        {14, "complex128", 16},
                                        {15, "complex_long_double", 2 * sizeof(long double)},
                                        {16, "boolean", 1},
                                        {17, "byte", 1},
                                        {18, "float_int", 8},
                                        {19, "double_int", 16},
                                        {20, "long_int", 2 * sizeof(long)},
                                        {21, "int_int", 8},
                                        {22, "short_int", 8},
                                        {23, "long_double_int", 2 * sizeof(long double)}};
  EXPECT_EQ(datatype_count, std::size(expected));
  for (const TypeOnTheWire& type : expected) {
    const auto datatype = static_cast<Datatype>(type.number);
    EXPECT_STREQ(datatype_name(datatype), type.name);
    EXPECT_EQ(datatype_bytes(datatype), type.bytes) << type.name;
  }
}

TEST(TypesTest, OpNumbersAreForGood) {
  const char* const expected[] = {"sum",  "prod", "min", "max",  "land",   "lor",
                                  "lxor", "band", "bor", "bxor", "minloc", "maxloc"};
  EXPECT_EQ(op_count, std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) EXPECT_STREQ(op_name(static_cast<Op>(i)), expected[i]);
}

TEST(TypesTest, EveryAlgorithmHasANameOfItsOwn) {
  std::set<std::string> names = {"unknown"};
  EXPECT_STREQ(algorithm_name(Algorithm::automatic), "auto");
  EXPECT_TRUE(names.insert(algorithm_name(Algorithm::automatic)).second);
  for (const Algorithm algorithm : all_algorithms) {
    EXPECT_TRUE(names.insert(algorithm_name(algorithm)).second) << algorithm_name(algorithm);
  }
  EXPECT_STREQ(algorithm_name(static_cast<Algorithm>(255)), "unknown");
}

TEST(TypesTest, LogicalOperationsAreThoseOfBooleans) {
  for (std::size_t i = 0; i < op_count; ++i) {
    const auto op = static_cast<Op>(i);
    EXPECT_EQ(is_logical(op), op_supports(op, Datatype::boolean)) << op_name(op);
  }
}

// MPI-3.1, 5.9.2 and 5.9.4.
TEST(TypesTest, OperationsAreDefinedWhereMpiDefinesThem) {
  const auto ops_of = [](Datatype type) {
    std::string ops;
    for (std::size_t i = 0; i < op_count; ++i) {
      if (op_supports(static_cast<Op>(i), type)) ops += std::string(op_name(static_cast<Op>(i))) + ' ';
    }
    return ops;
  };
  EXPECT_EQ(ops_of(Datatype::int32), "sum prod min max land lor lxor band bor bxor ");
  EXPECT_EQ(ops_of(Datatype::uint8), ops_of(Datatype::int32));
  EXPECT_EQ(ops_of(Datatype::float64), "sum prod min max ");
  EXPECT_EQ(ops_of(Datatype::bfloat16), ops_of(Datatype::float64));
  EXPECT_EQ(ops_of(Datatype::complex_long_double), "sum prod ");
  EXPECT_EQ(ops_of(Datatype::boolean), "land lor lxor ");
  EXPECT_EQ(ops_of(Datatype::byte), "band bor bxor ");
  EXPECT_EQ(ops_of(Datatype::short_int), "minloc maxloc ");
}

}  // namespace
}  // namespace hps
