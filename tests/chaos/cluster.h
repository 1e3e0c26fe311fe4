// SPDX-License-Identifier: BSD-3-Clause
// Cluster: the ranks of a schedule, an Engine each over fake::Network, and the groups' descriptions.
#ifndef HPS_TESTS_CHAOS_CLUSTER_H
#define HPS_TESTS_CHAOS_CLUSTER_H

#include <functional>
#include <memory>
#include <vector>

#include "chaos/schedule.h"
#include "chaos/tap.h"
#include "engine/engine.h"
#include "transport/fake/network.h"

namespace hps::chaos {

class Cluster {
 public:
  // `after_step` is called for a rank whenever its engine has stepped. The schedule must outlive the cluster.
  Cluster(const Schedule& schedule, std::function<void(std::uint32_t rank)> after_step);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  fake::Network& network() { return *network_; }
  Engine& engine(std::uint32_t rank) { return *engines_[rank]; }
  Tap& tap(std::uint32_t rank) { return *taps_[rank]; }
  static std::uint32_t token(std::uint32_t rank) { return 0x9e3779b9u * (rank + 1); }
  std::uint64_t hash() const noexcept { return hash_.value(); }

  // How a group of these members (world ranks) is described to all.
  wire::GroupSpec spec(const std::vector<Rank>& members, std::uint32_t counter) const;
  // What new plans of such a group are made of: after each call.
  PlanBasis basis(const std::vector<Rank>& members) const;

 private:
  std::uint64_t serve_memory_bytes() const;
  std::vector<PlanNode> plan_nodes(const std::vector<Rank>& members, std::vector<std::uint32_t>* node_of) const;
  void add_rank(std::uint32_t rank, std::uint64_t memory_bytes);

  const Schedule& schedule_;
  std::uint64_t memory_bytes_ = 0;
  const std::function<void(std::uint32_t rank)> after_step_;
  RunHash hash_;
  // Engines end first, then what they send through.
  std::unique_ptr<fake::Network> network_;
  std::vector<std::unique_ptr<Tap>> taps_;
  std::vector<std::unique_ptr<Engine>> engines_;
};

}  // namespace hps::chaos

#endif
