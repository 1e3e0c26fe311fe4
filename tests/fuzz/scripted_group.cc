// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/scripted_group.h"

#include <algorithm>

namespace hps::fuzz {
namespace {

// A plan of `owners`, each on a node of its own, with equal weights; the first `workers` nodes are the members'.
Plan plan_of(std::uint32_t workers, const std::vector<PlanOwner>& owners, std::uint32_t cpu_only,
             std::uint32_t chunk_bytes) {
  Plan plan;
  plan.n = workers;
  plan.k = cpu_only;
  for (std::uint32_t node = 0; node < workers + cpu_only; ++node) plan.nodes.push_back({node >= workers, 0, 0});
  plan.nodes.back().share = 1;
  plan.owners = owners;
  plan.chunk_bytes = plan.min_chunk_bytes = chunk_bytes;
  plan.window = 6;
  plan.rotation = 2;
  static_cast<void>(plan.finish());  // a plan that is wrong shows at once: the service refuses it
  return plan;
}

struct Shape {
  std::vector<Rank> members;
  std::vector<std::uint32_t> node_of;
  std::vector<PlanOwner> owners;
  std::uint32_t cpu_only;
  std::uint32_t chunk_bytes;
};

// This process beside the workers and among them, the owner of everything, of a part and of nothing; members on nodes
// of their own and not; small chunks and large ones.
Shape shape_of(std::uint32_t shape) {
  switch (shape) {
    case 1:
      return {{0, self, 2}, {0, 1, 2}, {{0, 0, 1}, {self, 1, 1}, {2, 2, 1}}, 0, 128};
    case 2:
      return {{4}, {0}, {{self, 1, 1}}, 1, 64};
    case 3:
      return {{0, 1, 2, 3}, {0, 0, 1, 1}, {{self, 2, 2}, {8, 3, 1}}, 2, 128};
    case 4:
      return {{self, 5}, {0, 1}, {{self, 0, 1}}, 0, 8192};
    case 5:
      return {{0, 3}, {0, 1}, {{0, 0, 1}, {3, 1, 1}}, 0, 128};
    default:
      return {{0, 1}, {0, 1}, {{self, 2, 1}}, 1, 128};
  }
}

}  // namespace

std::uint32_t ScriptedMember::waiting() const {
  std::uint32_t sum = stuck;
  for (const auto& [sequence, count] : pushes) sum += count;
  return sum;
}

void ScriptedMember::push_answered(std::uint32_t sequence) {
  const auto of_call = pushes.find(sequence);
  if (of_call != pushes.end() && --of_call->second == 0) pushes.erase(of_call);
}

ScriptedGroup::ScriptedGroup(std::uint32_t place, std::uint32_t shape, std::uint32_t generation)
    : base_(0x40000000 + generation * 256 + place * 16) {
  const Shape from = shape_of(shape);
  spec.id = {from.members.front(), place * 0x10000 + generation};
  spec.members = from.members;
  spec.layout = layout_from_nodes(from.node_of);
  const auto nodes = static_cast<std::uint32_t>(spec.layout.nodes.size());
  spec.plan = plan_of(nodes, from.owners, from.cpu_only, from.chunk_bytes);
  encoded = wire::encode(spec);
  members.resize(spec.members.size());
  for (std::uint32_t m = 0; m < members.size(); ++m) {
    if (spec.members[m] == self) local = m;
  }
  scale_ = from.chunk_bytes > 1000 ? 16 : 1;
  sequence = 0;
  begin_call(shape);
}

void ScriptedGroup::begin_call(std::uint32_t choice) {
  ++sequence;
  signature = fuzz::signature(choice, scale_);
  chunking = spec.plan.chunking(signature.count, datatype_bytes(signature.datatype));
  spoiled = out_of_order = revoked = posted = contributed = false;
  told.reset();
  for (ScriptedMember& member : members) {
    member.pushed.reset();
    member.results.reset();
  }
  LocalCall::sequence = sequence;
  LocalCall::signature = signature;
  local_input.clear();
  if (local) local_input = contribution(signature, seed(*local), {0, signature.count});
  input = local ? local_input.data() : nullptr;
}

void ScriptedGroup::revoke(std::uint32_t m) {
  ScriptedMember& member = members[m];
  revoked = true;
  if (member.state == MemberState::joined) member.state = MemberState::absent;
  member.pushed &= member.results;
  member.pushes.clear();
  member.stuck = 0;
  member.owes_cancel = 0;
}

// One that leaves in the middle of a call is not missed until its memory is needed.
void ScriptedGroup::part(std::uint32_t m) {
  ScriptedMember& member = members[m];
  if ((member.pushed & ~member.results).any()) spoiled = true;
  member.state = MemberState::left;
  member.handle = 0;
  member.pushes.clear();
  if (present() == 0) spoiled = true;
}

std::optional<std::uint32_t> ScriptedGroup::member_with_handle(std::uint32_t handle) const {
  for (std::uint32_t m = 0; m < members.size(); ++m) {
    if (members[m].is_present() && members[m].handle == handle) return m;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> ScriptedGroup::member_replied_to(std::uint32_t reply_handle) const {
  if (reply_handle < base_ || reply_handle - base_ >= members.size()) return std::nullopt;
  return reply_handle - base_;
}

std::uint32_t ScriptedGroup::count(MemberState state) const {
  const auto is = [&](const ScriptedMember& member) { return member.state == state; };
  return static_cast<std::uint32_t>(std::count_if(members.begin(), members.end(), is));
}

std::uint32_t ScriptedGroup::present() const {
  const auto is_present = [](const ScriptedMember& member) { return member.is_present(); };
  return static_cast<std::uint32_t>(std::count_if(members.begin(), members.end(), is_present));
}

bool ScriptedGroup::is_deserted() const { return count(MemberState::left) == members.size() - (local ? 1 : 0); }

bool ScriptedGroup::is_over() const {
  return !attached && (detached || count(MemberState::left) != 0) && present() == 0;
}

std::uint64_t ScriptedGroup::seed(std::uint32_t member) const {
  return (std::uint64_t{base_} + member) << 32 | sequence;
}

Slice ScriptedGroup::slice_of(std::uint64_t chunk) const {
  return {chunking.first_element(chunk), chunking.elements(chunk, signature.count)};
}

std::vector<std::byte> ScriptedGroup::payload(std::uint32_t member, std::uint64_t chunk) const {
  return contribution(signature, seed(member), slice_of(chunk));
}

wire::Header ScriptedGroup::push_header(std::uint32_t member, std::uint64_t chunk) const {
  wire::Header header;
  header.type = wire::MessageType::push;
  header.plan = spec.plan.number;
  header.handle = members[member].handle;
  header.sequence = sequence;
  header.chunk = static_cast<std::uint32_t>(chunk);
  header.signature = signature;
  return header;
}

wire::Join ScriptedGroup::join(std::uint32_t member, bool with_spec) const {
  wire::Join join{spec.id, member, reply_handle(member), wire::hash(encoded), {}};
  if (with_spec) join.spec = encoded;
  return join;
}

std::string ScriptedGroup::name_of(std::uint64_t chunk) const {
  return "chunk " + std::to_string(chunk) + " of call " + std::to_string(sequence);
}

std::string ScriptedGroup::check_result(std::uint64_t chunk, ConstBytes result) const {
  if (chunk >= chunking.chunks || !owns(chunk)) return name_of(chunk) + " is not this process's";
  if (!complete(chunk)) return name_of(chunk) + " was summed before all contributions had come";
  std::vector<std::uint64_t> seeds;
  for (std::uint32_t m = 0; m < members.size(); ++m) seeds.push_back(seed(m));
  const std::vector<std::byte> expected = expected_sum(signature, spec.layout, seeds, slice_of(chunk));
  if (std::equal(expected.begin(), expected.end(), result.begin(), result.end())) return {};
  return name_of(chunk) + " has wrong bits";
}

bool ScriptedGroup::complete(std::uint64_t chunk) const {
  if (local && !contributed) return false;
  for (std::uint32_t m = 0; m < members.size(); ++m) {
    if (is_remote(m) && !members[m].pushed[chunk]) return false;
  }
  return true;
}

bool ScriptedGroup::all_complete() const {
  for (std::uint64_t chunk = 0; chunk < chunking.chunks; ++chunk) {
    if (owns(chunk) && !complete(chunk)) return false;
  }
  return true;
}

bool ScriptedGroup::has_chunks() const {
  for (std::uint64_t chunk = 0; chunk < chunking.chunks; ++chunk) {
    if (owns(chunk)) return true;
  }
  return false;
}

std::string ScriptedGroup::missing() const {
  if (spoiled || tainted || failed) return {};
  for (std::uint64_t chunk = 0; chunk < chunking.chunks; ++chunk) {
    if (!owns(chunk) || !complete(chunk)) continue;
    if (local && !told[chunk]) return name_of(chunk) + " was not summed for this process itself";
    for (std::uint32_t m = 0; m < members.size(); ++m) {
      if (is_remote(m) && members[m].state == MemberState::joined && !members[m].results[chunk])
        return name_of(chunk) + " has no result for member " + std::to_string(m);
    }
  }
  return {};
}

void ScriptedGroup::on_chunk_summed(std::uint64_t chunk, ConstBytes result) noexcept {
  if (tainted) return;
  std::string error = chunk < max_chunks ? check_result(chunk, result) : "a chunk that there is not";
  if (error.empty() && told[chunk]) error = "a chunk was summed twice";
  if (local_error_.empty()) local_error_ = error;
  if (chunk < max_chunks) told.set(chunk);
}

void ScriptedGroup::on_aborted(const Status&) noexcept {
  posted = false;
  spoiled = true;
}

}  // namespace hps::fuzz
