// SPDX-License-Identifier: BSD-3-Clause
// Programs, executed on strings: what they compute must read as the tree that the layout stands for.
#include "summation/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "summation/reference.h"

namespace hps {
namespace {

std::string bracket(const std::string& left, const std::string& right) { return "(" + left + " " + right + ")"; }

std::vector<std::string> leaf_names(std::uint32_t leaves) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < leaves; ++i) names.push_back(std::to_string(i));
  return names;
}

std::string interpret(const Program& program, std::uint32_t leaves) {
  std::vector<std::string> values = leaf_names(leaves);
  values.resize(leaves + program.slots());
  std::string result;
  for (const Program::Step& step : program.steps()) {
    std::vector<std::string> operands;
    for (std::uint32_t i = 0; i < step.count; ++i) operands.push_back(values.at(program.operands().at(step.first + i)));
    result = reference::canonical(operands, bracket);
    values.at(leaves + step.slot) = result;
  }
  return result;
}

Program compile(const Layout& layout, std::uint32_t leaves) {
  Expression expression;
  std::vector<Expression::Value> nodes;
  for (const Layout::Node& node : layout.nodes) {
    std::vector<Expression::Value> switches;
    for (const Layout::Switch& under : node.switches) {
      std::vector<Expression::Value> members;
      for (std::uint32_t member : under.members) members.push_back(expression.leaf(member));
      switches.push_back(expression.join(members));
    }
    nodes.push_back(expression.join(switches));
  }
  return Program(expression, expression.join(nodes), leaves);
}

void expect_right(const Layout& layout, std::uint32_t leaves) {
  const Program program = compile(layout, leaves);
  EXPECT_EQ(interpret(program, leaves), reference::tree(layout, leaf_names(leaves), bracket));
  for (const Program::Step& step : program.steps()) {
    EXPECT_GE(step.count, 2u);
    EXPECT_LE(step.count, max_operands);
  }
}

TEST(ProgramTest, FlatTrees) {
  for (std::uint32_t leaves = 2; leaves <= 300; ++leaves) {
    SCOPED_TRACE(leaves);
    expect_right(reference::flat_layout(leaves), leaves);
  }
  expect_right(reference::flat_layout(1000), 1000);
  expect_right(reference::flat_layout(4097), 4097);
}

TEST(ProgramTest, RandomLayouts) {
  reference::Random random(4);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::vector<std::uint32_t>> sizes(1 + random() % 20);
    std::uint32_t leaves = 0;
    for (auto& node : sizes) {
      node.resize(1 + random() % 3);
      for (std::uint32_t& members : node) leaves += members = 1 + static_cast<std::uint32_t>(random() % 5);
    }
    if (leaves < 2) continue;
    SCOPED_TRACE(testing::Message() << "round " << round << ", " << leaves << " leaves");
    expect_right(reference::round_robin_layout(sizes), leaves);
  }
}

TEST(ProgramTest, UpTo16LeavesOfOneShapeAreOneStep) {
  for (std::uint32_t leaves = 2; leaves <= max_operands; ++leaves) {
    EXPECT_EQ(compile(reference::flat_layout(leaves), leaves).steps().size(), 1u) << leaves;
  }
  // Levels of powers of two make the flat shape.
  EXPECT_EQ(compile(reference::round_robin_layout({{2, 2}, {2, 2}, {2, 2}, {2, 2}}), 16).steps().size(), 1u);
}

TEST(ProgramTest, LargeTreesNeedFewStepsAndSlots) {
  const Program program = compile(reference::flat_layout(1024), 1024);
  EXPECT_EQ(program.steps().size(), 64u + 16u + 1u);
  EXPECT_EQ(program.slots(), 16u + 4u - 1u);
  // Nodes of 3 do not fit the flat shape: a step for each, and one over them.
  EXPECT_EQ(compile(reference::round_robin_layout({{3}, {3}, {3}, {3}, {3}}), 15).steps().size(), 6u);
}

}  // namespace
}  // namespace hps
