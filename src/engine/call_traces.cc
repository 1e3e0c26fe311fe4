// SPDX-License-Identifier: BSD-3-Clause
#include "engine/call_traces.h"

#include <algorithm>
#include <deque>
#include <new>
#include <utility>

namespace hps {
namespace {

const char* collective_name(wire::Collective collective) {
  return collective == wire::Collective::allreduce_hetero ? "HPS_Allreduce_hetero" : "call";
}

}  // namespace

// One chunk's way to its owner. The operation is told as if there were no trace.
class CallTraces::Push final : public SendCompletion {
 public:
  Push(Trace& trace, Operation& operation, const TraceSpan& span) : trace_(trace), operation_(operation), span_(span) {}

  const TraceSpan& span() const noexcept { return span_; }
  void on_sent(const Status& status) noexcept override {
    span_.end_ns = trace_.now();
    trace_.add(span_);
    operation_.on_sent(status);
  }

 private:
  Trace& trace_;
  Operation& operation_;
  TraceSpan span_;
};

struct CallTraces::Call {
  TraceSpan span;
  std::deque<Push> pushes;          // they stay where they are: the transport knows them
  std::vector<const Push*> latest;  // by chunk; nullptr where it was not pushed
};

CallTraces::CallTraces(Trace& trace) : trace_(trace) {}

CallTraces::~CallTraces() = default;

CallTraces::Call* CallTraces::find(const Operation& operation) noexcept {
  const auto at = std::find_if(calls_.begin(), calls_.end(),
                               [&](const auto& call) { return call->span.call == operation.sequence(); });
  return at == calls_.end() ? nullptr : at->get();
}

void CallTraces::begin(const Operation& operation, const wire::GroupId& group) noexcept try {
  auto call = std::make_unique<Call>();
  const wire::Signature& signature = operation.signature();
  call->span.name = collective_name(signature.collective);
  call->span.group_root = group.root;
  call->span.group_counter = group.counter;
  call->span.call = operation.sequence();
  call->span.bytes = signature.count * datatype_bytes(signature.datatype);
  calls_.push_back(std::move(call));
  TraceSpan& span = calls_.back()->span;
  span.lane = trace_.take_wait_lane();
  span.begin_ns = trace_.now();
} catch (const std::bad_alloc&) {
  return;  // a call that is not in the timeline
}

SendCompletion& CallTraces::push(Operation& operation, std::uint64_t chunk, Rank owner, std::uint64_t bytes) noexcept
    try {
  Call* call = find(operation);
  if (call == nullptr) return operation;
  TraceSpan span = call->span;
  span.stage = TraceStage::push;
  span.lane = 0;
  span.name = "push";
  span.chunk = chunk;
  span.peer = owner;
  span.bytes = bytes;
  span.begin_ns = trace_.now();
  if (chunk >= call->latest.size()) call->latest.resize(chunk + 1);
  call->pushes.emplace_back(trace_, operation, span);
  call->latest[chunk] = &call->pushes.back();
  return call->pushes.back();
} catch (const std::bad_alloc&) {
  return operation;
}

void CallTraces::result(const Operation& operation, std::uint64_t chunk, TimeNs when) noexcept {
  const Call* call = find(operation);
  if (call == nullptr || chunk >= call->latest.size() || call->latest[chunk] == nullptr) return;
  TraceSpan span = call->latest[chunk]->span();
  span.stage = TraceStage::result;
  span.name = "result";
  span.end_ns = when;
  trace_.add(span);
}

void CallTraces::end(const Operation& operation, std::uint16_t plan) noexcept {
  Call* call = find(operation);
  if (call == nullptr) return;
  TraceSpan& span = call->span;
  span.plan = plan;
  span.algorithm = operation.algorithm();
  span.failed = !operation.status().ok();
  span.end_ns = trace_.now();
  trace_.free_wait_lane(span.lane);
  trace_.add(span);
  std::erase_if(calls_, [&](const auto& one) { return one.get() == call; });
}

}  // namespace hps
