// SPDX-License-Identifier: BSD-3-Clause
// Every kernel of every instruction set that this CPU has, against the serial reference.
#include "summation/kernels.h"

#include <gtest/gtest.h>

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
    kernel(inputs.data(), static_cast<std::byte*>(test.output.data()), test.elements);
  }

  const KernelTable* table_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Isas, KernelsTest, testing::ValuesIn(all_isas),
                         [](const auto& test) { return isa_name(test.param); });

TEST_P(KernelsTest, AgreesWithReference) {
  reference::Random random(1);
  reference::for_each_datatype([&]<class T>(Datatype type) {
    for (Op op : reference::all_ops) {
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
    }
  });
}

// Zeros of both signs, infinities, NaNs of both signs, the ends of integers: each with each, in both orders.
TEST_P(KernelsTest, SpecialValuesPairwise) {
  reference::for_each_datatype([&]<class T>(Datatype type) {
    const std::vector<T> special = reference::special_values<T>();
    const std::size_t pairs = special.size() * special.size();
    for (Op op : reference::all_ops) {
      SCOPED_TRACE(testing::Message() << datatype_name(type) << ' ' << op_name(op));
      reference::Random random(2);
      Case<T> test(2, pairs, Case<T>::Place::aligned, random);
      for (std::size_t i = 0; i < pairs; ++i) {
        test.inputs[0].set(i, special[i / special.size()]);
        test.inputs[1].set(i, special[i % special.size()]);
      }
      run(table_->row(type, op).of(2), test);
      EXPECT_EQ(test.output.difference(test.expected(reference::flat_layout(2), op)), "");
    }
  });
}

TEST_P(KernelsTest, OutputMayBeAnInput) {
  constexpr std::size_t targets[] = {0, 1, 4};
  reference::Random random(3);
  reference::for_each_datatype([&]<class T>(Datatype type) {
    for (Op op : reference::all_ops) {
      for (std::size_t target : targets) {
        SCOPED_TRACE(testing::Message() << datatype_name(type) << ' ' << op_name(op) << " onto " << target);
        Case<T> test(5, 131, Case<T>::Place::misaligned, random);
        const std::vector<T> expected = test.expected(reference::flat_layout(5), op);
        std::vector<const std::byte*> inputs;
        for (const void* input : test.pointers()) inputs.push_back(static_cast<const std::byte*>(input));
        Buffer<T>& output = test.inputs[target];
        table_->row(type, op).of(5)(inputs.data(), static_cast<std::byte*>(output.data()), test.elements);
        EXPECT_EQ(output.difference(expected), "");
        EXPECT_TRUE(output.guards_intact());
      }
    }
  });
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
