// SPDX-License-Identifier: BSD-3-Clause
// LocalCall: a call of this process, as the Summation Service of the same process sees it. Nothing goes through the
// network between the two.
#ifndef HPS_SRC_SUMMATION_LOCAL_CALL_H
#define HPS_SRC_SUMMATION_LOCAL_CALL_H

#include "util/status.h"
#include "util/types.h"
#include "wire/header.h"

namespace hps {

class LocalCall {
 public:
  std::uint32_t sequence = 0;
  wire::Signature signature;
  // The whole vector that this process contributes; nullptr on a CPU-only rank, which contributes nothing. Must stay
  // until the call ends.
  const std::byte* input = nullptr;
  // Whether the group's plan is looked at again after the call: of this process's own will, or since it was heard.
  bool renews = false;

  // A chunk that this process owns has been summed. `result` is the service's own memory, valid during the call.
  virtual void on_chunk_summed(std::uint64_t chunk, ConstBytes result) = 0;
  // The call fails; nothing more will be told.
  virtual void on_aborted(const Status& why) = 0;

 protected:
  ~LocalCall() = default;
};

}  // namespace hps

#endif
