// SPDX-License-Identifier: BSD-3-Clause
// CallTraces: what this process's calls on one group put into its Trace: each call from start to end, and each push and
// result of it. Only where there is a Trace. What there is no memory for is left out.
#ifndef HPS_SRC_ENGINE_CALL_TRACES_H
#define HPS_SRC_ENGINE_CALL_TRACES_H

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/operation.h"
#include "util/trace.h"
#include "wire/group_spec.h"

namespace hps {

class CallTraces {
 public:
  // `trace` must outlive this.
  explicit CallTraces(Trace& trace);
  ~CallTraces();
  CallTraces(const CallTraces&) = delete;
  CallTraces& operator=(const CallTraces&) = delete;

  TimeNs now() const { return trace_.now(); }

  // The operation has its number; no push of it may be under way at end().
  void begin(const Operation& operation, const wire::GroupId& group) noexcept;
  // A push is about to be sent to `owner`, a rank: whom to tell when it has been, in the operation's place.
  SendCompletion& push(Operation& operation, std::uint64_t chunk, Rank owner, std::uint64_t bytes) noexcept;
  // The result of a chunk has come at `when`. The chunk counts as sent when its push was given to the transport, the
  // last time, for its answer may come before the transport says that it has gone out.
  void result(const Operation& operation, std::uint64_t chunk, TimeNs when) noexcept;
  void end(const Operation& operation, std::uint16_t plan) noexcept;

 private:
  class Push;
  struct Call;

  Call* find(const Operation& operation) noexcept;

  Trace& trace_;
  std::vector<std::unique_ptr<Call>> calls_;
};

}  // namespace hps

#endif
