// SPDX-License-Identifier: BSD-3-Clause
// Simulation: a whole job in one process, in virtual time: an Engine a rank over fake::Network, without MPI, threads or
// clocks. Ranks 0 .. workers-1 are workers, the others CPU-only; each node has `ranks_a_node` ranks.
#ifndef HPS_TESTS_ENGINE_SIMULATION_H
#define HPS_TESTS_ENGINE_SIMULATION_H

#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "coll/select.h"
#include "engine/engine.h"
#include "plan/layout.h"
#include "transport/fake/network.h"

namespace hps::test {

struct SimulationOptions {
  std::uint32_t workers = 1;
  std::uint32_t cpu_only = 0;
  std::uint32_t ranks_a_node = 1;  // of workers and of CPU-only ranks
  double rate = 0;                 // of every node, bytes a second; 0 = infinitely fast and not known to the plan
  std::vector<double> rates;       // of each node, workers' first; empty: `rate`
  fake::HostOptions ports;         // but for their rate
  bool rates_told = true;          // to the plan; else they are measured
  RenewalPolicy::Options renewal;
  fake::NetworkOptions network;
  PlanOptions plan;
  std::uint64_t serve_memory_bytes = 64u << 20;
  std::uint32_t sum_threads = 1;
  TimeNs timeout_ns = 0;
  WatchOptions watch;
  LogLevel log = LogLevel::error;
  std::string trace;  // where each rank writes a timeline; empty: nowhere
};

// A vector of small whole numbers, so that sums are exact: element i of worker w in call c.
inline float element(std::uint32_t worker, std::uint64_t i, std::uint32_t call) {
  return static_cast<float>((worker * 7 + i * 13 + call * 5) % 31);
}

class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options) : options_(options), network_(options.network, hosts(options)) {
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) add_rank(rank);
    for (std::uint32_t a = 0; a < ranks(); ++a) {
      for (std::uint32_t b = 0; b < ranks(); ++b) engines_[a]->add_peer(static_cast<Rank>(b), token(b));
    }
  }

  // Sends are told how they ended, as a transport does it before it is closed.
  ~Simulation() { network_.run({}, network_.now() + 1'000'000'000); }
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  std::uint32_t ranks() const { return options_.workers + options_.cpu_only; }
  std::uint32_t workers() const { return options_.workers; }
  fake::Network& network() { return network_; }
  Engine& engine(std::uint32_t rank) { return *engines_[rank]; }
  Transport& transport(std::uint32_t rank) { return *transports_[rank]; }
  static std::uint32_t token(std::uint32_t rank) { return 1000 + rank; }

  // A group of the given workers (world ranks); its place in groups().
  std::size_t open_group(const std::vector<Rank>& members) {
    wire::GroupSpec spec;
    std::vector<Membership*> memberships;
    std::vector<std::uint32_t> handles;
    for (Rank member : members) {
      memberships.push_back(engines_[static_cast<std::size_t>(member)]->add_group());
      handles.push_back(memberships.back()->handle());
    }
    spec.id = {members.front(), ++group_counter_};
    spec.members = members;
    spec.layout = layout_from_nodes(nodes_of(members));
    must(make_plan(plan_nodes(members), options_.plan, &spec.plan));
    for (Membership* membership : memberships) must(membership->open(spec, handles));
    if (!options_.rates_told)
      memberships.front()->allow_renewal(
          {plan_nodes(members), options_.plan, options_.serve_memory_bytes, options_.renewal, {}});
    groups_.push_back(memberships);
    return groups_.size() - 1;
  }
  std::size_t open_group_of_all() {
    std::vector<Rank> members(workers());
    std::iota(members.begin(), members.end(), 0);
    return open_group(members);
  }
  Membership& membership(std::size_t group, std::uint32_t member) { return *groups_[group][member]; }
  std::uint32_t members(std::size_t group) const { return static_cast<std::uint32_t>(groups_[group].size()); }

  void close_group(std::size_t group) {
    for (std::uint32_t member = 0; member < members(group); ++member) leave_group(group, member);
  }
  // One member leaves; its membership is gone then.
  void leave_group(std::size_t group, std::uint32_t member) {
    Membership& leaving = membership(group, member);
    const Rank rank = leaving.spec().members[member];
    engines_[static_cast<std::size_t>(rank)]->retire(leaving);
    network_.wake(rank);
  }

 private:
  static void must(const Status& status) {
    if (!status.ok()) throw std::logic_error(status.to_string());
  }
  static std::vector<fake::HostOptions> hosts(const SimulationOptions& options) {
    const auto nodes = [&](std::uint32_t count) { return (count + options.ranks_a_node - 1) / options.ranks_a_node; };
    std::vector<fake::HostOptions> hosts(nodes(options.workers) + nodes(options.cpu_only), options.ports);
    for (fake::HostOptions& host : hosts) host.rate = options.rate;
    for (std::size_t host = 0; host < options.rates.size(); ++host) hosts[host].rate = options.rates[host];
    return hosts;
  }
  std::uint32_t host(std::uint32_t rank) const {
    if (rank < workers()) return rank / options_.ranks_a_node;
    return (workers() + options_.ranks_a_node - 1) / options_.ranks_a_node + (rank - workers()) / options_.ranks_a_node;
  }
  double told_rate(std::uint32_t host) const {
    if (!options_.rates_told) return 0;
    return options_.rates.empty() ? options_.rate : options_.rates[host];
  }
  void add_rank(std::uint32_t rank) {
    transports_.push_back(
        &network_.add_rank(host(rank), [this, rank](TimeNs now) { return engines_[rank]->step(now); }));
    const EngineOptions engine{static_cast<Rank>(rank),
                               token(rank),
                               options_.serve_memory_bytes,
                               options_.sum_threads,
                               options_.timeout_ns,
                               options_.watch,
                               Log(options_.log, static_cast<Rank>(rank)),
                               add_trace(rank)};
    engines_.push_back(std::make_unique<Engine>(engine, *transports_.back()));
  }
  Trace* add_trace(std::uint32_t rank) {
    if (options_.trace.empty()) return nullptr;
    TraceOptions trace;
    trace.path = options_.trace;
    trace.rank = static_cast<Rank>(rank);
    trace.role = rank < workers() ? Role::worker : Role::cpu_only;
    trace.host = "host" + std::to_string(host(rank));
    trace.clock = [this] { return network_.now(); };
    traces_.emplace_back();
    if (const Status made = Trace::create(trace, &traces_.back()); !made.ok()) throw std::runtime_error(made.text());
    return traces_.back().get();
  }
  std::vector<std::uint32_t> nodes_of(const std::vector<Rank>& members) const {
    std::vector<std::uint32_t> nodes;
    for (Rank member : members) nodes.push_back(host(static_cast<std::uint32_t>(member)));
    return nodes;
  }
  std::vector<PlanNode> plan_nodes(const std::vector<Rank>& members) const {
    std::vector<PlanNode> nodes;
    std::vector<std::uint32_t> hosts_seen;
    const auto add = [&](std::uint32_t rank, bool cpu_only) {
      if (hosts_seen.empty() || hosts_seen.back() != host(rank)) {
        hosts_seen.push_back(host(rank));
        nodes.push_back({cpu_only, told_rate(host(rank)), {}});
      }
      nodes.back().owners.push_back(static_cast<Rank>(rank));
    };
    for (Rank member : members) add(static_cast<std::uint32_t>(member), false);
    for (std::uint32_t rank = workers(); rank < ranks(); ++rank) add(rank, true);
    return nodes;
  }

  // The network outlives the engines: it may hold completions of theirs.
  SimulationOptions options_;
  std::vector<std::unique_ptr<Trace>> traces_;
  std::vector<std::unique_ptr<Engine>> engines_;
  fake::Network network_;
  std::vector<Transport*> transports_;
  std::vector<std::vector<Membership*>> groups_;
  std::uint32_t group_counter_ = 0;
};

// One all-reduce of floats on all members of a group.
class Call {
 public:
  Call(Simulation& simulation, std::size_t group, std::uint64_t count, std::uint32_t number = 0)
      : simulation_(simulation), group_(group), count_(count), number_(number) {
    const std::uint32_t members = simulation.members(group);
    for (std::uint32_t m = 0; m < members; ++m) {
      send_.emplace_back(count);
      receive_.emplace_back(count, -1.0f);
      for (std::uint64_t i = 0; i < count; ++i) send_[m][i] = element(m, i, number);
    }
    operations_.resize(members);
  }
  ~Call() {
    for (std::uint32_t m = 0; m < operations_.size(); ++m) {
      if (operations_[m]) simulation_.membership(group_, m).finish(*operations_[m]);
    }
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void start(std::uint32_t member, std::uint64_t count, Op op = Op::sum) {
    Membership& membership = simulation_.membership(group_, member);
    const allreduce_hetero::Arguments arguments{reinterpret_cast<const std::byte*>(send_[member].data()),
                                                reinterpret_cast<std::byte*>(receive_[member].data()), count,
                                                Datatype::float32, op};
    operations_[member] = make_allreduce_hetero(membership, arguments);
    membership.start(*operations_[member]);
    simulation_.network().wake(membership.spec().members[member]);
  }
  void start(std::uint32_t member) { start(member, count_); }
  void start_all() {
    for (std::uint32_t m = 0; m < operations_.size(); ++m) start(m);
  }
  // Ends the member's part, which is done, as the caller does who gets its result.
  void finish(std::uint32_t member) {
    simulation_.membership(group_, member).finish(*operations_[member]);
    operations_[member].reset();
  }
  bool done() const {
    for (const auto& operation : operations_) {
      if (!operation || !operation->done()) return false;
    }
    return true;
  }
  const Status& status(std::uint32_t member) const { return operations_[member]->status(); }
  bool done(std::uint32_t member) const { return operations_[member]->done(); }
  // Elements that are not what they should be, over all members.
  std::uint64_t wrong() const {
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < count_; ++i) {
      float expected = 0;
      for (std::uint32_t m = 0; m < receive_.size(); ++m) expected += element(m, i, number_);
      for (const auto& result : receive_) wrong += result[i] != expected;
    }
    return wrong;
  }
  std::uint64_t touched(std::uint32_t member) const {
    std::uint64_t touched = 0;
    for (float value : receive_[member]) touched += value != -1.0f;
    return touched;
  }

 private:
  Simulation& simulation_;
  std::size_t group_;
  std::uint64_t count_;
  std::uint32_t number_;
  std::vector<std::vector<float>> send_;
  std::vector<std::vector<float>> receive_;
  std::vector<std::unique_ptr<Operation>> operations_;
};

}  // namespace hps::test

#endif
