// SPDX-License-Identifier: BSD-3-Clause
// Trees against the serial reference, over layouts, datatypes, operations and instruction sets.
#include "summation/tree.h"

#include <gtest/gtest.h>

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "summation/reference.h"

namespace hps {
namespace {

using reference::Buffer;
using reference::Case;
using Sizes = std::vector<std::vector<std::uint32_t>>;

std::vector<const KernelTable*> tables() {
  std::vector<const KernelTable*> result;
  for (Isa isa : all_isas) {
    if (const KernelTable* table = kernel_table(isa)) result.push_back(table);
  }
  return result;
}

// Evaluates with the kernels of every instruction set.
template <class T>
void expect_right(const Layout& layout, Datatype type, Op op, Case<T>& test) {
  const Tree tree(layout);
  const std::vector<T> expected = test.expected(layout, op);
  for (const KernelTable* table : tables()) {
    tree.evaluate(*table, {type, op, test.elements}, test.pointers().data(), test.output.data());
    EXPECT_EQ(test.output.difference(expected), "");
    EXPECT_TRUE(test.output.guards_intact());
  }
}

const Sizes layouts[] = {{{3}, {3}, {3}},
                         {{2, 2}, {2, 2}, {1}},
                         {{4, 4}, {4, 4}, {4, 4}},
                         {{1}, {5}, {2, 3}, {7, 1, 1}},
                         {{17}, {2, 16}, {3, 3, 3, 3, 3}, {1}, {33}}};

std::uint32_t members_of(const Sizes& sizes) {
  std::uint32_t members = 0;
  for (const auto& node : sizes) {
    for (std::uint32_t under : node) members += under;
  }
  return members;
}

TEST(TreeTest, FlatTreesOf1To40) {
  reference::Random random(1);
  for (std::uint32_t leaves = 1; leaves <= 40; ++leaves) {
    SCOPED_TRACE(leaves);
    const Layout layout = reference::flat_layout(leaves);
    EXPECT_EQ(Tree(layout).leaves(), leaves);
    Case<float> floats(leaves, 211, Case<float>::Place::misaligned, random);
    Case<double> doubles(leaves, 211, Case<double>::Place::aligned, random);
    if (leaves == 1) continue;  // a copy, below: NaNs keep their payload
    expect_right(layout, Datatype::float32, Op::sum, floats);
    expect_right(layout, Datatype::float64, Op::sum, doubles);
  }
}

// 5003 elements are several blocks, and an incomplete one.
TEST(TreeTest, EveryTypeOpAndCount) {
  constexpr std::size_t counts[] = {0, 1, 127, 5003};
  reference::Random random(2);
  reference::for_each_reduction([&]<class T>(Datatype type, Op op) {
    for (std::size_t elements : counts) {
      SCOPED_TRACE(testing::Message() << datatype_name(type) << ' ' << op_name(op) << ' ' << elements);
      Case<T> test(21, elements, Case<T>::Place::misaligned, random);
      expect_right(reference::flat_layout(21), type, op, test);
    }
  });
}

// Of the 16-bit floats every layout shows whether they are rounded where they should be.
TEST(TreeTest, Levels) {
  reference::Random random(3);
  reference::for_each_datatype([&]<class T>(Datatype type) {
    if (!op_supports(Op::sum, type)) return;
    for (const Sizes& sizes : layouts) {
      SCOPED_TRACE(testing::Message() << members_of(sizes) << " of " << datatype_name(type));
      Case<T> test(members_of(sizes), 1511, Case<T>::Place::misaligned, random);
      expect_right(reference::round_robin_layout(sizes), type, Op::sum, test);
    }
  });
}

TEST(TreeTest, PartialResultsOfOtherTypesAreElements) {
  const double value = 0.1;
  double copy = 0;
  to_partial(Datatype::float64, &value, &copy, 1);
  EXPECT_EQ(copy, value);
  double back = 0;
  from_partial(Datatype::float64, &copy, &back, 1);
  EXPECT_EQ(back, value);
}

TEST(TreeTest, ThousandLeaves) {
  reference::Random random(4);
  for (std::uint32_t leaves : {1000u, 1024u}) {
    Case<double> test(leaves, 307, Case<double>::Place::misaligned, random);
    expect_right(reference::flat_layout(leaves), Datatype::float64, Op::sum, test);
  }
}

// Else the tests above could not tell the canonical order from another.
TEST(TreeTest, OrderShowsInTheBits) {
  reference::Random random(5);
  for (std::uint32_t leaves : {4u, 8u, 17u}) {
    std::vector<std::vector<float>> values(leaves, std::vector<float>(100));
    std::vector<float> left_to_right(100);
    for (std::vector<float>& contribution : values) {
      for (std::size_t i = 0; i < 100; ++i) {
        contribution[i] = reference::ordinary_value<float>(random);
        left_to_right[i] += contribution[i];
      }
    }
    const std::vector<float> expected = reference::evaluate(reference::flat_layout(leaves), Op::sum, values);
    std::size_t differ = 0;
    for (std::size_t i = 0; i < 100; ++i) differ += left_to_right[i] != expected[i];
    EXPECT_GT(differ, 10u) << leaves << " leaves";
  }
}

TEST(TreeTest, OneLeafIsCopied) {
  reference::Random random(6);
  const Tree tree(reference::flat_layout(1));
  Case<float> test(1, 1009, Case<float>::Place::misaligned, random);
  tree.evaluate(Datatype::float32, Op::max, test.pointers().data(), test.output.data(), test.elements);
  std::vector<float> expected;
  for (std::size_t i = 0; i < test.elements; ++i) expected.push_back(test.inputs[0].get(i));
  EXPECT_EQ(test.output.difference(expected), "");
  EXPECT_TRUE(test.output.guards_intact());
}

// Wherever a vector is cut into chunks, the bits stay.
TEST(TreeTest, PiecesEqualTheWhole) {
  reference::Random random(7);
  const Layout layout = reference::round_robin_layout(layouts[4]);
  const Tree tree(layout);
  Case<float> test(tree.leaves(), 4001, Case<float>::Place::misaligned, random);
  const std::vector<float> expected = test.expected(layout, Op::sum);
  for (std::size_t at = 0; at < test.elements;) {
    const std::size_t piece = std::min<std::size_t>(1 + random() % 900, test.elements - at);
    std::vector<const void*> inputs = test.pointers();
    for (const void*& input : inputs) input = static_cast<const float*>(input) + at;
    tree.evaluate(Datatype::float32, Op::sum, inputs.data(), static_cast<float*>(test.output.data()) + at, piece);
    at += piece;
  }
  EXPECT_EQ(test.output.difference(expected), "");
  EXPECT_TRUE(test.output.guards_intact());
}

// Node sums first, and a flat tree over them: how carriers and owners share the work.
TEST(TreeTest, NodeByNodeEqualsTheWhole) {
  reference::Random random(8);
  reference::for_each_reduction([&]<class T>(Datatype type, Op op) {
    for (const Sizes& sizes : layouts) {
      SCOPED_TRACE(testing::Message() << members_of(sizes) << ' ' << datatype_name(type) << ' ' << op_name(op));
      const Layout layout = reference::round_robin_layout(sizes);
      Case<T> test(members_of(sizes), 37, Case<T>::Place::aligned, random);
      std::vector<Buffer<T>> sums;
      for (const Layout::Node& node : layout.nodes) {
        std::vector<const void*> inputs;
        for (const Layout::Switch& under : node.switches) {
          for (std::uint32_t member : under.members) inputs.push_back(test.inputs[member].data());
        }
        const Tree tree(node);
        ASSERT_EQ(tree.leaves(), inputs.size());
        tree.evaluate(type, op, inputs.data(), sums.emplace_back(37, 1).data(), 37);
      }
      std::vector<const void*> inputs;
      for (Buffer<T>& sum : sums) inputs.push_back(sum.data());
      const Tree tree(reference::flat_layout(static_cast<std::uint32_t>(sums.size())));
      tree.evaluate(type, op, inputs.data(), test.output.data(), 37);
      EXPECT_EQ(test.output.difference(test.expected(layout, op)), "");
    }
  });
}

// Recursive doubling combines partial results, two at a time, in place.
TEST(TreeTest, CombiningTwoAtATimeEqualsTheWhole) {
  reference::Random random(9);
  reference::for_each_reduction([&]<class T>(Datatype type, Op op) {
    SCOPED_TRACE(testing::Message() << datatype_name(type) << ' ' << op_name(op));
    Case<T> test(11, 83, Case<T>::Place::misaligned, random);
    std::vector<Buffer<reference::Partial<T>>> partials;
    for (Buffer<T>& input : test.inputs) to_partial(type, input.data(), partials.emplace_back(83, 2).data(), 83);
    std::vector<Buffer<reference::Partial<T>>*> values;
    for (auto& partial : partials) values.push_back(&partial);
    const auto join = [&](auto* left, auto* right) {
      auto* const target = values.size() % 2 == 0 ? left : right;
      combine(type, op, left->data(), right->data(), target->data(), 83);
      return target;
    };
    auto* const result = reference::canonical(values, join);
    EXPECT_TRUE(result->guards_intact());
    from_partial(type, result->data(), test.output.data(), 83);
    EXPECT_EQ(test.output.difference(test.expected(reference::flat_layout(11), op)), "");
    EXPECT_TRUE(test.output.guards_intact());
  });
}

#if defined(__x86_64__)
// A caller that rounds upwards and flushes denormals gets the same bits, and its mode back.
TEST(TreeTest, CallersModeChangesNothingAndComesBack) {
  constexpr unsigned flush = 0x8000 | 0x0040;
  reference::Random random(10);
  reference::for_each_reduction([&]<class T>(Datatype type, Op op) {
    for (std::uint32_t leaves : {2u, 40u}) {
      SCOPED_TRACE(testing::Message() << datatype_name(type) << ' ' << op_name(op) << ' ' << leaves);
      Case<T> test(leaves, 331, Case<T>::Place::aligned, random);
      const Tree tree(reference::flat_layout(leaves));
      const std::vector<T> expected = test.expected(reference::flat_layout(leaves), op);
      const unsigned saved = _mm_getcsr();
      std::fesetround(FE_UPWARD);
      _mm_setcsr(_mm_getcsr() | flush);
      const unsigned before = _mm_getcsr();
      tree.evaluate(type, op, test.pointers().data(), test.output.data(), test.elements);
      const unsigned after = _mm_getcsr();
      const int rounding = std::fegetround();
      std::fesetround(FE_TONEAREST);
      _mm_setcsr(saved);
      EXPECT_EQ(after, before);
      EXPECT_EQ(rounding, FE_UPWARD);
      EXPECT_EQ(test.output.difference(expected), "");
    }
  });
}

TEST(TreeTest, CombineKeepsTheCallersModeToo) {
  constexpr unsigned up_and_flush = 0x4000 | 0x8000 | 0x0040;
  const float left[] = {1, std::numeric_limits<float>::denorm_min()};
  const float right[] = {std::numeric_limits<float>::epsilon() / 4, std::numeric_limits<float>::denorm_min()};
  float output[2];
  const unsigned saved = _mm_getcsr();
  _mm_setcsr(saved | up_and_flush);
  combine(Datatype::float32, Op::sum, left, right, output, 2);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(saved);
  EXPECT_EQ(after & up_and_flush, up_and_flush);
  EXPECT_EQ(output[0], 1);
  EXPECT_EQ(output[1], 2 * std::numeric_limits<float>::denorm_min());
}
#endif

}  // namespace
}  // namespace hps
