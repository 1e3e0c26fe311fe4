// SPDX-License-Identifier: BSD-3-Clause
#include "chaos/cluster.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "summation/served_group.h"

namespace hps::chaos {
namespace {

// Far longer than a rank that is not lost stands still.
constexpr TimeNs time_out_ns = 20'000'000'000;

constexpr std::uint64_t ample_memory_bytes = 256u << 20;

struct NoOutbox final : Outbox {
  Status send(Rank, wire::Header, ConstBytes, SendCompletion*) override { return {}; }
  Status send_copy(Rank, const wire::Header&, std::vector<std::byte>) override { return {}; }
};

// The least that the group takes at any of the ranks.
std::uint64_t least_bytes(const wire::GroupSpec& spec, std::uint32_t ranks) {
  NoOutbox outbox;
  Counters counters;
  std::uint64_t least = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const ServedGroup group(spec, {static_cast<Rank>(rank), 0, 1, Log()}, outbox, counters);
    least = std::max(least, group.least_credits() * group.bytes_per_credit());
  }
  return least;
}

}  // namespace

Cluster::Cluster(const Schedule& schedule, std::function<void(std::uint32_t rank)> after_step)
    : schedule_(schedule), after_step_(std::move(after_step)) {
  std::vector<fake::HostOptions> hosts;
  for (double rate : schedule.rates) hosts.push_back({rate});
  network_ = std::make_unique<fake::Network>(schedule.network, hosts);
  memory_bytes_ = schedule.tight_memory ? serve_memory_bytes() : ample_memory_bytes;
  for (std::uint32_t rank = 0; rank < schedule.ranks(); ++rank) add_rank(rank, memory_bytes_);
  for (const auto& engine : engines_) {
    for (std::uint32_t peer = 0; peer < schedule.ranks(); ++peer)
      engine->add_peer(static_cast<Rank>(peer), token(peer));
  }
}

Cluster::~Cluster() {
  for (const auto& tap : taps_) tap->tell_unsent();
}

void Cluster::add_rank(std::uint32_t rank, std::uint64_t memory_bytes) {
  Transport& transport = network_->add_rank(schedule_.host(rank), [this, rank](TimeNs now) {
    const TimeNs next = engines_[rank]->step(now);
    after_step_(rank);
    return next;
  });
  taps_.push_back(std::make_unique<Tap>(static_cast<Rank>(rank), *network_, hash_));
  taps_.back()->connect(transport);
  EngineOptions options;
  options.self = static_cast<Rank>(rank);
  options.token = token(rank);
  options.serve_memory_bytes = memory_bytes;
  options.sum_threads = 1;
  options.timeout_ns = time_out_ns;
  options.log = Log(LogLevel::error, static_cast<Rank>(rank));
  engines_.push_back(std::make_unique<Engine>(options, *taps_.back()));
}

std::uint64_t Cluster::serve_memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const GroupPlan& group : schedule_.groups)
    bytes = std::max(bytes, least_bytes(spec(group.members, 1), schedule_.ranks()));
  return bytes;
}

// As src/job does it: nodes in the order of their first member; CPU-only ranks beside members add no link.
std::vector<PlanNode> Cluster::plan_nodes(const std::vector<Rank>& members, std::vector<std::uint32_t>* node_of) const {
  std::vector<PlanNode> nodes;
  std::map<std::uint32_t, std::uint32_t> index;
  const auto add = [&](std::uint32_t rank, bool cpu_only) {
    const std::uint32_t host = schedule_.host(rank);
    const auto [at, is_new] = index.emplace(host, static_cast<std::uint32_t>(nodes.size()));
    if (is_new) nodes.push_back({cpu_only, schedule_.rates_known ? schedule_.rates[host] : 0, {}});
    nodes[at->second].owners.push_back(static_cast<Rank>(rank));
    return at->second;
  };
  for (Rank member : members) node_of->push_back(add(static_cast<std::uint32_t>(member), false));
  for (std::uint32_t rank = schedule_.workers; rank < schedule_.ranks(); ++rank) add(rank, true);
  return nodes;
}

wire::GroupSpec Cluster::spec(const std::vector<Rank>& members, std::uint32_t counter) const {
  wire::GroupSpec spec;
  std::vector<std::uint32_t> node_of;
  const std::vector<PlanNode> nodes = plan_nodes(members, &node_of);
  spec.id = {members.front(), counter};
  spec.members = members;
  spec.layout = layout_from_nodes(node_of);
  if (!make_plan(nodes, schedule_.plan, &spec.plan).ok()) std::abort();
  return spec;
}

PlanBasis Cluster::basis(const std::vector<Rank>& members) const {
  std::vector<std::uint32_t> node_of;
  PlanBasis basis{plan_nodes(members, &node_of), schedule_.plan, memory_bytes_, {}, {512, 64}};
  basis.options.max_chunk_bytes = std::max(schedule_.plan.chunk_bytes, 2048u);
  basis.renewal.always = true;
  return basis;
}

}  // namespace hps::chaos
