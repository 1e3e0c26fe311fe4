// SPDX-License-Identifier: BSD-3-Clause
// C++ types for the elements that C++ has none for; datatypes.def says which MPI types they are.
#ifndef HPS_SRC_UTIL_ELEMENT_TYPES_H
#define HPS_SRC_UTIL_ELEMENT_TYPES_H

#include <complex>
#include <cstddef>
#include <cstdint>

namespace hps {

// Floating-point numbers of 16 bits: IEEE 754's binary16, and the upper half of a float.
struct Float16 {
  std::uint16_t bits;
};
struct Bfloat16 {
  std::uint16_t bits;
};

// What MINLOC and MAXLOC work on, laid out as MPI's pair types are: a value and where it is from, with the gaps of a C
// struct.
template <class Value_>
struct ValueIndex {
  using Value = Value_;
  Value value;
  int index;
};

}  // namespace hps

#endif
