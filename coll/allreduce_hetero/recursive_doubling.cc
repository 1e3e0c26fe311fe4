// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling over nodes, for messages whose time is latency. No CPU-only rank takes part.
//
// The members of a node send their vectors to its leader, its first member, which combines them as the node's part of
// the canonical tree. Leaders then exchange: with n nodes and p the largest power of two <= n, the first 2(n-p) pair up
// and the upper of each pair hands its vector to the lower; the p that remain exchange with partners at distance 1, 2,
// 4, ... and combine, lower operand left; then everything is handed back down. These are the combinations of the
// canonical tree in the same order, so the bits are those of every other algorithm; for that, leaders exchange
// partial results, which for 16-bit floats are floats, twice the bytes.
//
// Cost: log2 p exchanges of M bytes, two more where n is no power of two, two more where nodes hold several workers.
// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 19(1),
// 2005.
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "coll/allreduce_hetero/allreduce_hetero.h"
#include "summation/tree.h"

namespace hps::allreduce_hetero {
namespace {

// Step numbers on the wire; doubling step s is `doubling + s`.
enum Step : std::uint32_t { gather, fold, unfold, broadcast, doubling };

class RecursiveDoubling final : public Operation {
 public:
  RecursiveDoubling(Membership& membership, const Arguments& arguments)
      : Operation(arguments.signature()), membership_(membership), arguments_(arguments) {
    find_place();
  }

  void start() override {
    value_.assign(arguments_.send, arguments_.send + arguments_.bytes());
    state_ = is_leader() ? State::gathering : State::awaiting_result;
    if (!is_leader()) send(leader(), gather);
    advance();
  }

  bool on_exchange(std::uint32_t member, std::uint32_t step, ConstBytes payload) override {
    if (ended() || !is_expected(member, step) || payload.size() != step_bytes(step)) return false;
    for (const Arrived& one : arrived_) {
      if (one.member == member && one.step == step) return false;
    }
    arrived_.push_back({member, step, {payload.begin(), payload.end()}});
    advance();
    return true;
  }

 private:
  enum class State : std::uint8_t { gathering, folding, exchanging, awaiting_fold, awaiting_result, over };
  struct Arrived {
    std::uint32_t member;
    std::uint32_t step;
    std::vector<std::byte> value;
  };

  // Where this rank stands: its node's members, and its node's place among the nodes.
  void find_place() {
    const auto& nodes = membership_.spec().layout.nodes;
    for (const Layout::Node& node : nodes) {
      std::vector<std::uint32_t> members;
      for (const Layout::Switch& one : node.switches)
        members.insert(members.end(), one.members.begin(), one.members.end());
      if (std::find(members.begin(), members.end(), *membership_.self()) != members.end()) {
        node_ = static_cast<std::uint32_t>(leaders_.size());
        node_members_ = members;
      }
      leaders_.push_back(members.front());
    }
    const auto n = static_cast<std::uint32_t>(leaders_.size());
    power_ = std::bit_floor(n);
    pairs_ = n - power_;
  }

  std::uint32_t leader() const noexcept { return node_members_.front(); }
  bool is_leader() const noexcept { return leader() == *membership_.self(); }
  bool is_paired() const noexcept { return node_ < 2 * pairs_; }
  bool is_upper() const noexcept { return is_paired() && node_ % 2 == 1; }
  // Among the p nodes that exchange: this node's place, and the node at a place.
  std::uint32_t place() const noexcept { return is_paired() ? node_ / 2 : node_ - pairs_; }
  std::uint32_t node_at(std::uint32_t place) const noexcept { return place < pairs_ ? 2 * place : place + pairs_; }
  std::uint32_t partner(std::uint32_t step) const noexcept { return leaders_[node_at(place() ^ (1u << step))]; }
  std::uint32_t doublings() const noexcept { return static_cast<std::uint32_t>(std::countr_zero(power_)); }

  // Leaders exchange partial results; inside a node, and back down, vectors of elements travel.
  std::uint64_t step_bytes(std::uint32_t step) const noexcept {
    const bool is_partial = step == fold || step >= doubling;
    return is_partial ? arguments_.count * datatype_bytes(partial_datatype(arguments_.datatype)) : arguments_.bytes();
  }

  // Whether the algorithm has `member` send this rank that step at all.
  bool is_expected(std::uint32_t member, std::uint32_t step) const noexcept {
    if (!is_leader()) return member == leader() && step == broadcast;
    switch (step) {
      case gather:
        return member != leader() &&
               std::find(node_members_.begin(), node_members_.end(), member) != node_members_.end();
      case fold:
        return is_paired() && !is_upper() && member == leaders_[node_ + 1];
      case unfold:
        return is_upper() && member == leaders_[node_ - 1];
      case broadcast:
        return false;
      default:
        return !is_upper() && step - doubling < doublings() && member == partner(step - doubling);
    }
  }

  const Arrived* find(std::uint32_t member, std::uint32_t step) const noexcept {
    for (const Arrived& one : arrived_) {
      if (one.member == member && one.step == step) return &one;
    }
    return nullptr;
  }

  void add_awaited(std::vector<std::uint32_t>* members) const override {
    for (std::uint32_t member = 0; member < membership_.members(); ++member) {
      for (std::uint32_t step = 0; step < Membership::max_steps; ++step) {
        if (!is_expected(member, step) || find(member, step) != nullptr) continue;
        members->push_back(member);
        break;
      }
    }
  }

  // Goes as far as what has arrived allows.
  void advance() {
    while (!ended() && take_step()) {
    }
  }

  // One transition; false where it must wait.
  bool take_step() {
    switch (state_) {
      case State::gathering:
        return take_gathered();
      case State::folding:
        return take_folded();
      case State::exchanging:
        return take_exchanged();
      case State::awaiting_fold:
        return take_result(leaders_[node_ - 1], unfold);
      case State::awaiting_result:
        return take_result(leader(), broadcast);
      case State::over:
        return false;
    }
    return false;
  }

  bool take_gathered() {
    std::vector<const void*> inputs;
    for (std::uint32_t member : node_members_) {
      const Arrived* one = member == leader() ? nullptr : find(member, gather);
      if (one == nullptr && member != leader()) return false;
      inputs.push_back(one == nullptr ? value_.data() : one->value.data());
    }
    if (inputs.size() > 1) {
      std::vector<std::byte> sum(value_.size());
      Tree(membership_.spec().layout.nodes[node_])
          .evaluate(arguments_.datatype, arguments_.op, inputs.data(), sum.data(), arguments_.count);
      value_ = std::move(sum);
    }
    if (leaders_.size() > 1) convert(to_partial, step_bytes(doubling));
    if (is_upper()) {
      send(leaders_[node_ - 1], fold);
      state_ = State::awaiting_fold;
    } else {
      state_ = State::folding;
    }
    return true;
  }

  bool take_folded() {
    if (is_paired()) {
      const Arrived* upper = find(leaders_[node_ + 1], fold);
      if (upper == nullptr) return false;
      combine_with(*upper, false);
    }
    state_ = State::exchanging;
    begin_exchange();
    return true;
  }

  void begin_exchange() {
    if (step_ < doublings()) send(partner(step_), doubling + step_);
  }

  bool take_exchanged() {
    if (step_ == doublings()) {
      if (leaders_.size() > 1) convert(from_partial, arguments_.bytes());
      finish();
      return true;
    }
    const Arrived* other = find(partner(step_), doubling + step_);
    if (other == nullptr) return false;
    combine_with(*other, (place() >> step_ & 1) == 1);
    ++step_;
    begin_exchange();
    return true;
  }

  bool take_result(std::uint32_t from, std::uint32_t step) {
    const Arrived* result = find(from, step);
    if (result == nullptr) return false;
    value_ = result->value;
    finish();
    return true;
  }

  void combine_with(const Arrived& other, bool other_is_left) noexcept {
    const std::byte* left = other_is_left ? other.value.data() : value_.data();
    const std::byte* right = other_is_left ? value_.data() : other.value.data();
    combine(arguments_.datatype, arguments_.op, left, right, value_.data(), arguments_.count);
  }

  // Makes a vector of another form of the value.
  void convert(void (*conversion)(Datatype, const void*, void*, std::size_t) noexcept, std::uint64_t bytes) {
    if (partial_datatype(arguments_.datatype) == arguments_.datatype) return;
    std::vector<std::byte> converted(bytes);
    conversion(arguments_.datatype, value_.data(), converted.data(), arguments_.count);
    value_ = std::move(converted);
  }

  // Hands the result down and writes it.
  void finish() {
    state_ = State::over;
    if (is_leader()) {
      if (is_paired() && !is_upper()) send(leaders_[node_ + 1], unfold);
      for (std::uint32_t member : node_members_) {
        if (member != leader()) send(member, broadcast);
      }
    }
    if (ended()) return;  // a send failed
    std::memcpy(arguments_.receive, value_.data(), value_.size());
    end({});
  }

  // Sends the present value from a copy that stays until the message is out: the value goes on changing.
  void send(std::uint32_t member, std::uint32_t step) {
    if (ended()) return;
    sent_.push_back(value_);
    count_send();
    if (Status sent = membership_.exchange(*this, member, step, sent_.back(), this); !sent.ok()) {
      uncount_send();
      fail(sent);
    }
  }

  Membership& membership_;
  Arguments arguments_;
  State state_ = State::gathering;
  std::vector<std::uint32_t> leaders_;       // by node: member index
  std::vector<std::uint32_t> node_members_;  // of this rank's node, in layout order
  std::uint32_t node_ = 0;
  std::uint32_t power_ = 1;
  std::uint32_t pairs_ = 0;
  std::uint32_t step_ = 0;  // of the doubling
  std::vector<std::byte> value_;
  std::vector<Arrived> arrived_;
  std::vector<std::vector<std::byte>> sent_;
};

}  // namespace

std::unique_ptr<Operation> make_recursive_doubling(Membership& membership, const Arguments& arguments) {
  return std::make_unique<RecursiveDoubling>(membership, arguments);
}

}  // namespace hps::allreduce_hetero
