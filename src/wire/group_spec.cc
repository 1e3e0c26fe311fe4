// SPDX-License-Identifier: BSD-3-Clause
#include "wire/group_spec.h"

#include <algorithm>
#include <utility>

#include "wire/codec.h"

namespace hps::wire {
namespace {

void put_layout(Writer& out, const Layout& layout) {
  out.put_count(layout.nodes.size());
  for (const Layout::Node& node : layout.nodes) {
    out.put_count(node.switches.size());
    for (const Layout::Switch& one : node.switches) {
      out.put_count(one.members.size());
      for (std::uint32_t member : one.members) out.put(member);
    }
  }
}

Layout get_layout(Reader& in) {
  Layout layout;
  layout.nodes.resize(in.get_count(4));
  for (Layout::Node& node : layout.nodes) {
    node.switches.resize(in.get_count(4));
    for (Layout::Switch& one : node.switches) {
      one.members.resize(in.get_count(4));
      for (std::uint32_t& member : one.members) member = in.get<std::uint32_t>();
    }
  }
  return layout;
}

void put_plan(Writer& out, const Plan& plan) {
  out.put(plan.number);
  out.put(plan.n);
  out.put(plan.k);
  out.put(plan.chunk_bytes);
  out.put(plan.min_chunk_bytes);
  out.put(plan.window);
  out.put(plan.rotation);
  out.put(plan.forced);
  out.put(plan.small_bytes);
  out.put(plan.latency_s);
  out.put_count(plan.nodes.size());
  for (const PlanNodeShare& node : plan.nodes) {
    out.put(static_cast<std::uint8_t>(node.cpu_only));
    out.put(node.rate);
    out.put(node.share);
  }
  out.put_count(plan.owners.size());
  for (const PlanOwner& owner : plan.owners) {
    out.put(owner.rank);
    out.put(owner.node);
    out.put(owner.weight);
  }
}

Plan get_plan(Reader& in) {
  Plan plan;
  plan.number = in.get<std::uint16_t>();
  plan.n = in.get<std::uint32_t>();
  plan.k = in.get<std::uint32_t>();
  plan.chunk_bytes = in.get<std::uint32_t>();
  plan.min_chunk_bytes = in.get<std::uint32_t>();
  plan.window = in.get<std::uint32_t>();
  plan.rotation = in.get<std::uint32_t>();
  plan.forced = in.get<Algorithm>();
  plan.small_bytes = in.get<std::uint32_t>();
  plan.latency_s = in.get<double>();
  plan.nodes.resize(in.get_count(17));
  for (PlanNodeShare& node : plan.nodes) {
    node.cpu_only = in.get<std::uint8_t>() != 0;
    node.rate = in.get<double>();
    node.share = in.get<double>();
  }
  plan.owners.resize(in.get_count(12));
  for (PlanOwner& owner : plan.owners) {
    owner.rank = in.get<Rank>();
    owner.node = in.get<std::uint32_t>();
    owner.weight = in.get<std::uint32_t>();
  }
  return plan;
}

}  // namespace

std::vector<std::byte> encode(const GroupSpec& spec) {
  Writer out;
  out.put(spec.id.root);
  out.put(spec.id.counter);
  out.put(spec.id.plan);
  out.put_count(spec.members.size());
  for (Rank member : spec.members) out.put(member);
  put_layout(out, spec.layout);
  put_plan(out, spec.plan);
  return out.take();
}

namespace {

bool are_distinct_ranks(std::vector<Rank> ranks) {
  std::sort(ranks.begin(), ranks.end());
  return !ranks.empty() && ranks.front() >= 0 && std::adjacent_find(ranks.begin(), ranks.end()) == ranks.end();
}

}  // namespace

Status decode(ConstBytes bytes, GroupSpec* spec) {
  Reader in(bytes);
  GroupSpec result;
  result.id.root = in.get<Rank>();
  result.id.counter = in.get<std::uint32_t>();
  result.id.plan = in.get<std::uint16_t>();
  result.members.resize(in.get_count(4));
  for (Rank& member : result.members) member = in.get<Rank>();
  result.layout = get_layout(in);
  result.plan = get_plan(in);
  if (!in.at_end()) return {Code::protocol, "a group description of the wrong length"};
  if (!are_distinct_ranks(result.members))
    return {Code::protocol, "a group description without members, or with one twice"};
  if (!is_valid(result.layout, static_cast<std::uint32_t>(result.members.size())))
    return {Code::protocol, "a group description whose layout does not hold each of its members once"};
  if (Status status = result.plan.finish(); !status.ok()) return {Code::protocol, status.to_string()};
  if (result.plan.number != result.id.plan)
    return {Code::protocol, "a group description whose plan has another number than its name says"};
  if (result.plan.n != result.layout.nodes.size())
    return {Code::protocol, "a group description whose plan has another number of worker nodes than its layout"};
  *spec = std::move(result);
  return {};
}

std::uint64_t hash(ConstBytes bytes) noexcept {
  std::uint64_t value = 0xcbf29ce484222325;
  for (std::byte byte : bytes) value = (value ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  return value;
}

}  // namespace hps::wire
