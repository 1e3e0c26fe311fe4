// SPDX-License-Identifier: BSD-3-Clause
#include "util/types.h"

#include <gtest/gtest.h>

#include <iterator>

namespace hps {
namespace {

struct TypeOnTheWire {
  int number;
  const char* name;
  std::size_t bytes;
};

// What ranks tell each other: a number that changes its meaning makes two releases of HPS sum nonsense.
TEST(TypesTest, DatatypeNumbersAreForGood) {
  constexpr TypeOnTheWire expected[] = {{0, "float32", 4}, {1, "float64", 8}, {2, "int8", 1},  {3, "int16", 2},
                                        {4, "int32", 4},   {5, "int64", 8},   {6, "uint8", 1}, {7, "uint16", 2},
                                        {8, "uint32", 4},  {9, "uint64", 8}};
  EXPECT_EQ(datatype_count, std::size(expected));
  for (const TypeOnTheWire& type : expected) {
    const auto datatype = static_cast<Datatype>(type.number);
    EXPECT_STREQ(datatype_name(datatype), type.name);
    EXPECT_EQ(datatype_bytes(datatype), type.bytes) << type.name;
  }
}

TEST(TypesTest, OpNumbersAreForGood) {
  const char* const expected[] = {"sum", "prod", "min", "max"};
  EXPECT_EQ(op_count, std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) EXPECT_STREQ(op_name(static_cast<Op>(i)), expected[i]);
}

}  // namespace
}  // namespace hps
