// SPDX-License-Identifier: BSD-3-Clause
// EventTransport: a Transport that runs in real time, as the driver needs it: it is progressed, and can be slept on.
#ifndef HPS_SRC_TRANSPORT_EVENT_TRANSPORT_H
#define HPS_SRC_TRANSPORT_EVENT_TRANSPORT_H

#include "transport/transport.h"

namespace hps {

class EventTransport : public Transport {
 public:
  // Moves data and tells the handler of what happened. Returns whether anything did.
  virtual bool progress() noexcept = 0;
  // Makes the descriptor readable at the next event. False where an event has come already: call progress() again. To
  // be called only after progress() has returned false: else wake-ups are lost.
  virtual bool arm() noexcept = 0;
  // A descriptor for poll(2), owned by the transport.
  virtual int event_descriptor() const noexcept = 0;
};

}  // namespace hps

#endif
