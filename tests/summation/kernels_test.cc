// SPDX-License-Identifier: BSD-3-Clause
// Every kernel of every instruction set that this CPU has, against the serial reference.
#include "summation/kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "summation/reference.h"

namespace hps {
namespace {

using reference::Buffer;
using reference::Case;

constexpr std::size_t counts[] = {0, 1, 61, 257};

class KernelsTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    table_ = kernel_table(GetParam());
    if (table_ == nullptr) GTEST_SKIP() << "this CPU has no " << isa_name(GetParam());
  }

  template <class T>
  void run(Kernel kernel, Case<T>& test) {
    std::vector<const std::byte*> inputs;
    for (const void* input : test.pointers()) inputs.push_back(static_cast<const std::byte*>(input));
    kernel(inputs.data(), static_cast<std::byte*>(test.output.data()), test.elements * sizeof(T));
  }

  const KernelTable* table_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Isas, KernelsTest, testing::ValuesIn(all_isas),
                         [](const auto& test) { return isa_name(test.param); });

TEST_P(KernelsTest, AgreesWithReference) {
  reference::Random random(1);
  reference::for_each_reduction([&]<class T>(Datatype type, Op op) {
    for (std::uint32_t operands = 2; operands <= max_operands; ++operands) {
      for (std::size_t elements : counts) {
        for (auto place : {Case<T>::Place::aligned, Case<T>::Place::misaligned}) {
          SCOPED_TRACE(testing::Message()
                       << datatype_name(type) << ' ' << op_name(op) << " of " << operands << " x " << elements);
          Case<T> test(operands, elements, place, random);
          run(table_->row(type, op).of(operands), test);
          ASSERT_EQ(test.output.difference(test.expected(reference::flat_layout(operands), op)), "");
          ASSERT_TRUE(test.output.guards_intact());
        }
      }
    }
  });
}

// Zeros of both signs, infinities, denormals, NaNs of both signs, the ends of integers: each with each, in both orders.
TEST_P(KernelsTest, SpecialValuesPairwise) {
  reference::for_each_reduction([&]<class T>(Datatype type, Op op) {
    SCOPED_TRACE(testing::Message() << datatype_name(type) << ' ' << op_name(op));
    const std::vector<T> special = reference::special_values<T>();
    const std::size_t pairs = special.size() * special.size();
    reference::Random random(2);
    Case<T> test(2, pairs, Case<T>::Place::aligned, random);
    for (std::size_t i = 0; i < pairs; ++i) {
      test.inputs[0].set(i, special[i / special.size()]);
      test.inputs[1].set(i, special[i % special.size()]);
    }
    run(table_->row(type, op).of(2), test);
    EXPECT_EQ(test.output.difference(test.expected(reference::flat_layout(2), op)), "");
  });
}

TEST_P(KernelsTest, OutputMayBeAnInput) {
  constexpr std::size_t targets[] = {0, 1, 4};
  reference::Random random(3);
  reference::for_each_reduction([&]<class T>(Datatype type, Op op) {
    for (std::size_t target : targets) {
      SCOPED_TRACE(testing::Message() << datatype_name(type) << ' ' << op_name(op) << " onto " << target);
      Case<T> test(5, 131, Case<T>::Place::misaligned, random);
      const std::vector<T> expected = test.expected(reference::flat_layout(5), op);
      std::vector<const std::byte*> inputs;
      for (const void* input : test.pointers()) inputs.push_back(static_cast<const std::byte*>(input));
      Buffer<T>& output = test.inputs[target];
      table_->row(type, op).of(5)(inputs.data(), static_cast<std::byte*>(output.data()), test.elements * sizeof(T));
      EXPECT_EQ(output.difference(expected), "");
      EXPECT_TRUE(output.guards_intact());
    }
  });
}

TEST_P(KernelsTest, UndefinedOperationsHaveNoKernels) {
  reference::for_each_datatype([&]<class T>(Datatype type) {
    for (Op op : reference::all_ops) {
      for (std::uint32_t operands = 2; operands <= max_operands; ++operands)
        EXPECT_EQ(table_->row(type, op).of(operands) != nullptr, op_supports(op, type))
            << datatype_name(type) << ' ' << op_name(op);
      EXPECT_EQ(table_->row(type, op).wide != nullptr, op_supports(op, type) && partial_datatype(type) != type);
    }
  });
}

// All 65536 of them.
template <class Half>
void expect_conversions(const KernelTable& table, Datatype type) {
  std::vector<Half> halves;
  std::vector<float> floats;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    halves.push_back({static_cast<std::uint16_t>(bits)});
    floats.push_back(reference::canonical_nan(reference::to_float(halves.back())));
  }
  const WideKernels& kernels = *table.row(type, Op::sum).wide;
  std::vector<float> widened(halves.size());
  const auto* input = reinterpret_cast<const std::byte*>(halves.data());
  kernels.widen[0](&input, reinterpret_cast<std::byte*>(widened.data()), halves.size() * sizeof(Half));
  EXPECT_EQ(std::memcmp(widened.data(), floats.data(), floats.size() * sizeof(float)), 0);
}

TEST_P(KernelsTest, EveryHalfBecomesItsFloat) {
  expect_conversions<Float16>(*table_, Datatype::float16);
  expect_conversions<Bfloat16>(*table_, Datatype::bfloat16);
}

// Every half, the middle between it and the next one, and the floats on both sides of each.
template <class Half>
void expect_roundings(const KernelTable& table, Datatype type) {
  std::vector<float> floats;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = reference::to_float(Half{static_cast<std::uint16_t>(bits)});
    const float next = reference::to_float(Half{static_cast<std::uint16_t>(bits + 1)});
    for (float one : {value, value / 2 + next / 2}) {
      for (float way : {-1.f, 0.f, 1.f}) {
        const float infinity = way * std::numeric_limits<float>::infinity();
        floats.push_back(way == 0 ? one : std::nextafter(one, infinity));
      }
    }
  }
  std::vector<Half> rounded(floats.size());
  const auto* input = reinterpret_cast<const std::byte*>(floats.data());
  table.row(type, Op::sum)
      .wide->round(&input, reinterpret_cast<std::byte*>(rounded.data()), floats.size() * sizeof(float));
  for (std::size_t i = 0; i < floats.size(); ++i)
    ASSERT_EQ(rounded[i].bits, reference::to_half<Half>(floats[i]).bits) << std::hexfloat << floats[i];
}

TEST_P(KernelsTest, FloatsAreRoundedToNearestEven) {
  expect_roundings<Float16>(*table_, Datatype::float16);
  expect_roundings<Bfloat16>(*table_, Datatype::bfloat16);
}

// A bool that is neither 0 nor 1, as C code can make one.
TEST_P(KernelsTest, AnyByteButZeroIsTrue) {
  const std::uint8_t left[] = {0, 0, 2, 255};
  const std::uint8_t right[] = {0, 128, 0, 4};
  const std::byte* const inputs[] = {reinterpret_cast<const std::byte*>(left),
                                     reinterpret_cast<const std::byte*>(right)};
  const auto result = [&](Op op) {
    std::array<std::uint8_t, 4> output;
    table_->row(Datatype::boolean, op).of(2)(inputs, reinterpret_cast<std::byte*>(output.data()), output.size());
    return output;
  };
  EXPECT_EQ(result(Op::land), (std::array<std::uint8_t, 4>{0, 0, 0, 1}));
  EXPECT_EQ(result(Op::lor), (std::array<std::uint8_t, 4>{0, 1, 1, 1}));
  EXPECT_EQ(result(Op::lxor), (std::array<std::uint8_t, 4>{0, 1, 1, 0}));
}

TEST(KernelTableTest, BestIsTheLastThatTheCpuHas) {
  const KernelTable* last = nullptr;
  for (Isa isa : all_isas) {
    if (kernel_table(isa) != nullptr) last = kernel_table(isa);
  }
  EXPECT_NE(kernel_table(Isa::baseline), nullptr);
  EXPECT_EQ(&best_kernel_table(), last);
}

}  // namespace
}  // namespace hps
