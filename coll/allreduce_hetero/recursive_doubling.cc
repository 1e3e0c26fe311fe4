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
#include <memory>
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
      : Operation(arguments.signature()),
        membership_(membership),
        arguments_(arguments),
        node_(membership.place().node),
        power_(std::bit_floor(nodes())),
        pairs_(nodes() - power_) {}

  void start() override {
    value_bytes_ = arguments_.bytes();
    std::memcpy(next_value(), arguments_.send, value_bytes_);
    state_ = is_leader() ? State::gathering : State::awaiting_result;
    if (!is_leader()) send(leader(), gather);
    advance();
  }

  bool on_exchange(std::uint32_t member, std::uint32_t step, ConstBytes payload) override {
    if (ended() || !is_expected(member, step) || payload.size() != step_bytes(step)) return false;
    if (has_come(member, step)) return false;
    arrived_.push_back({member, step, payload.data(), {}});
    advance();
    if (!ended()) keep_latest(payload);
    return true;
  }

 private:
  enum class State : std::uint8_t { gathering, folding, exchanging, awaiting_fold, awaiting_result, over };
  struct Arrived {
    std::uint32_t member;
    std::uint32_t step;
    const std::byte* value;  // the message's own bytes while it is told, then those kept; nullptr once it is used
    std::unique_ptr<std::byte[]> kept;

    bool is(std::uint32_t of_member, std::uint32_t of_step) const noexcept {
      return member == of_member && step == of_step;
    }
  };

  const std::vector<std::uint32_t>& leaders() const noexcept { return membership_.place().leaders; }
  const std::vector<std::uint32_t>& node_members() const noexcept { return membership_.place().node_members; }
  std::uint32_t nodes() const noexcept { return static_cast<std::uint32_t>(leaders().size()); }
  std::uint32_t leader() const noexcept { return node_members().front(); }
  bool is_leader() const noexcept { return leader() == *membership_.self(); }
  bool is_paired() const noexcept { return node_ < 2 * pairs_; }
  bool is_upper() const noexcept { return is_paired() && node_ % 2 == 1; }
  // Among the p nodes that exchange: this node's place, and the node at a place.
  std::uint32_t place() const noexcept { return is_paired() ? node_ / 2 : node_ - pairs_; }
  std::uint32_t node_at(std::uint32_t place) const noexcept { return place < pairs_ ? 2 * place : place + pairs_; }
  std::uint32_t partner(std::uint32_t step) const noexcept { return leaders()[node_at(place() ^ (1u << step))]; }
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
               std::find(node_members().begin(), node_members().end(), member) != node_members().end();
      case fold:
        return is_paired() && !is_upper() && member == leaders()[node_ + 1];
      case unfold:
        return is_upper() && member == leaders()[node_ - 1];
      case broadcast:
        return false;
      default:
        return !is_upper() && step - doubling < doublings() && member == partner(step - doubling);
    }
  }

  Arrived* find(std::uint32_t member, std::uint32_t step) noexcept {
    for (Arrived& one : arrived_) {
      if (one.is(member, step)) return &one;
    }
    return nullptr;
  }
  bool has_come(std::uint32_t member, std::uint32_t step) const noexcept {
    return std::any_of(arrived_.begin(), arrived_.end(), [&](const Arrived& one) { return one.is(member, step); });
  }

  // What the latest message brought is used later. It does not stay where there is no memory to keep it.
  void keep_latest(ConstBytes payload) {
    if (arrived_.back().value == nullptr) return;
    Arrived latest = std::move(arrived_.back());
    arrived_.pop_back();
    latest.kept = std::make_unique_for_overwrite<std::byte[]>(payload.size());
    std::memcpy(latest.kept.get(), payload.data(), payload.size());
    latest.value = latest.kept.get();
    arrived_.push_back(std::move(latest));
  }

  void add_awaited(std::vector<std::uint32_t>* members) const override {
    for (std::uint32_t member = 0; member < membership_.members(); ++member) {
      for (std::uint32_t step = 0; step < Membership::max_steps; ++step) {
        if (!is_expected(member, step) || has_come(member, step)) continue;
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
        return take_result(leaders()[node_ - 1], unfold);
      case State::awaiting_result:
        return take_result(leader(), broadcast);
      case State::over:
        return false;
    }
    return false;
  }

  bool take_gathered() {
    if (node_members().size() > 1 && !combine_node()) return false;
    if (nodes() > 1) convert(to_partial, step_bytes(doubling));
    if (is_upper()) {
      send(leaders()[node_ - 1], fold);
      state_ = State::awaiting_fold;
    } else {
      state_ = State::folding;
    }
    return true;
  }

  // False where a member's vector has not come.
  bool combine_node() {
    std::vector<const void*> inputs;
    for (std::uint32_t member : node_members()) {
      const Arrived* one = member == leader() ? nullptr : find(member, gather);
      if (one == nullptr && member != leader()) return false;
      inputs.push_back(one == nullptr ? value_ : one->value);
    }
    Tree(membership_.spec().layout.nodes[node_])
        .evaluate(arguments_.datatype, arguments_.op, inputs.data(), next_value(), arguments_.count);
    for (Arrived& one : arrived_) {
      if (one.step == gather) one.value = nullptr;
    }
    return true;
  }

  bool take_folded() {
    if (is_paired()) {
      Arrived* upper = find(leaders()[node_ + 1], fold);
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
      if (nodes() > 1) convert(from_partial, arguments_.bytes());
      finish();
      return true;
    }
    Arrived* other = find(partner(step_), doubling + step_);
    if (other == nullptr) return false;
    combine_with(*other, (place() >> step_ & 1) == 1);
    ++step_;
    begin_exchange();
    return true;
  }

  bool take_result(std::uint32_t from, std::uint32_t step) {
    Arrived* result = find(from, step);
    if (result == nullptr) return false;
    value_bytes_ = arguments_.bytes();
    std::memcpy(next_value(), result->value, value_bytes_);
    result->value = nullptr;
    finish();
    return true;
  }

  void combine_with(Arrived& other, bool other_is_left) {
    const std::byte* own = value_;
    const std::byte* left = other_is_left ? other.value : own;
    const std::byte* right = other_is_left ? own : other.value;
    combine(arguments_.datatype, arguments_.op, left, right, next_value(), arguments_.count);
    other.value = nullptr;
  }

  // Makes a vector of another form of the value.
  void convert(void (*conversion)(Datatype, const void*, void*, std::size_t) noexcept, std::uint64_t bytes) {
    if (partial_datatype(arguments_.datatype) == arguments_.datatype) return;
    const std::byte* from = value_;
    conversion(arguments_.datatype, from, next_value(), arguments_.count);
    value_bytes_ = bytes;
  }

  // Where the next value goes. Those before stay as they are, for they may be on their way out.
  std::byte* next_value() {
    // Its own, its node's, of another form, folded, doubled, of the first form, the result.
    const std::size_t most_values = 6 + doublings();
    const std::size_t bytes = std::max(arguments_.bytes(), step_bytes(doubling));
    if (!values_) values_ = std::make_unique_for_overwrite<std::byte[]>(most_values * bytes);
    return value_ = value_ == nullptr ? values_.get() : value_ + bytes;
  }

  // Hands the result down and writes it.
  void finish() {
    state_ = State::over;
    if (is_leader()) {
      if (is_paired() && !is_upper()) send(leaders()[node_ + 1], unfold);
      for (std::uint32_t member : node_members()) {
        if (member != leader()) send(member, broadcast);
      }
    }
    if (ended()) return;  // a send failed
    std::memcpy(arguments_.receive, value_, value_bytes_);
    end({});
  }

  void send(std::uint32_t member, std::uint32_t step) {
    if (ended()) return;
    count_send();
    if (Status sent = membership_.exchange(*this, member, step, {value_, value_bytes_}, this); !sent.ok()) {
      uncount_send();
      fail(sent);
    }
  }

  Membership& membership_;
  Arguments arguments_;
  State state_ = State::gathering;
  std::uint32_t node_;      // this rank's, among the nodes
  std::uint32_t power_;     // of 2: so many nodes double
  std::uint32_t pairs_;     // of nodes that fold first
  std::uint32_t step_ = 0;  // of the doubling
  std::unique_ptr<std::byte[]> values_;
  std::byte* value_ = nullptr;  // the present one
  std::size_t value_bytes_ = 0;
  std::vector<Arrived> arrived_;
};

}  // namespace

std::unique_ptr<Operation> make_recursive_doubling(Membership& membership, const Arguments& arguments) {
  return std::make_unique<RecursiveDoubling>(membership, arguments);
}

}  // namespace hps::allreduce_hetero
