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

std::string rounded(const std::string& value) { return "[" + value + "]"; }

// What the program computes. Which values are wide follows from the steps, and no step may take one for an element.
std::string interpret(const Program& program, std::uint32_t leaves) {
  using Form = Program::Form;
  std::vector<std::string> values = leaf_names(leaves);
  values.resize(leaves + program.slots());
  std::vector<bool> wide(values.size());
  std::string result;
  for (const Program::Step& step : program.steps()) {
    std::vector<std::string> operands;
    for (std::uint32_t i = 0; i < step.count; ++i) {
      const std::uint32_t operand = program.operands().at(step.first + i);
      operands.push_back(values.at(operand));
      EXPECT_EQ(wide.at(operand), step.form == Form::combine || step.form == Form::round);
      EXPECT_TRUE(step.form != Form::widen || operand != leaves + step.slot);  // not in place
    }
    result = reference::canonical(operands, bracket);
    const bool is_element = step.form == Form::elements || step.form == Form::round;
    if (is_element) result = rounded(result);
    values.at(leaves + step.slot) = result;
    wide.at(leaves + step.slot) = !is_element;
  }
  EXPECT_FALSE(wide.at(leaves));  // the result is in slot 0
  return result;
}

Program compile(const Layout& layout, std::uint32_t leaves, Rounding rounding = Rounding::none) {
  Expression expression;
  std::vector<Expression::Value> nodes;
  for (const Layout::Node& node : layout.nodes) {
    std::vector<Expression::Value> switches;
    for (const Layout::Switch& under : node.switches) {
      std::vector<Expression::Value> members;
      for (std::uint32_t member : under.members) members.push_back(expression.leaf(member));
      switches.push_back(expression.join(members));
    }
    nodes.push_back(expression.round(expression.join(switches)));
    if (rounding == Rounding::none) nodes.back() = expression.join(switches);
  }
  return Program(expression, expression.join(nodes), leaves, rounding);
}

std::string without_rounding(std::string text) {
  std::erase_if(text, [](char c) { return c == '[' || c == ']'; });
  return text;
}

void expect_right(const Layout& layout, std::uint32_t leaves) {
  const Program program = compile(layout, leaves);
  const auto as_it_is = [](const std::string& value) { return value; };
  EXPECT_EQ(without_rounding(interpret(program, leaves)),
            reference::tree(layout, leaf_names(leaves), bracket, as_it_is));
  for (const Program::Step& step : program.steps()) {
    EXPECT_EQ(step.form, Program::Form::elements);
    EXPECT_GE(step.count, 2u);
    EXPECT_LE(step.count, max_operands);
  }
  const Program wide_program = compile(layout, leaves, Rounding::as_said);
  std::string expected = reference::tree(layout, leaf_names(leaves), bracket, rounded);
  if (layout.nodes.size() > 1) expected = rounded(expected);
  EXPECT_EQ(interpret(wide_program, leaves), expected);
  for (const Program::Step& step : wide_program.steps()) EXPECT_LE(step.count, max_operands);
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
  const Layout powers = reference::round_robin_layout({{2, 2}, {2, 2}, {2, 2}, {2, 2}});
  EXPECT_EQ(compile(powers, 16).steps().size(), 1u);
  EXPECT_EQ(compile(powers, 16, Rounding::as_said).steps().size(), 5u);  // each node is rounded
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
