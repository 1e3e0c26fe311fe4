// SPDX-License-Identifier: BSD-3-Clause
// Arrival: how HPS_Init begins. Its ranks wait until all have come, and all learn whether one of them cannot take part:
// because something is wrong there, or because it has given up waiting. A CPU-only rank gives up, as its program may be
// one that never calls HPS_Init; a worker does not, for late is not dead.
//
// Rank 0 of the communicator is the host, the others are guests, and they talk by messages from one to one:
//
//     guest                                host
//     up, with its error if it has one
//                                          noted, so that the host alone warns of who is late
//                                          go?, when it has come and all are up
//     here
//                                          verdict, when all are here: ok
//
// A guest that gives up sends "gave up" and never "here", so that a verdict of ok means that nobody has; once it has
// seen the question it gives up no more, and the answer is near, for all who were asked are in HPS_Init. The host's
// verdict goes out at once when a guest has given up, when it gives up itself, and, when all are up, for the first
// rank's error; who comes later finds it waiting. So every rank gets the same error. One that gave up while another's
// error was on its way gets its own.
//
// What nobody takes any more (a question to one that has given up, what was sent to a host that had ended) stays behind
// in MPI. It bears the number of this arrival on the communicator, the same on every rank as the call is collective,
// and is thrown away by the next one. MPI keeps the order of messages between two ranks, and a guest ends an arrival
// with "gave up", which ends it for the host, or with the verdict, which the host sends last: nobody ever takes a
// message of an arrival to come.
//
// Nothing is received but what has been found by probing, so that no request is left to cancel; and the messages of one
// that leaves early are a few dozen bytes long, which every MPI sends whether or not they are received. 4(n-1) messages
// pass through the host; it is done once a job.
#ifndef HPS_SRC_JOB_ARRIVAL_H
#define HPS_SRC_JOB_ARRIVAL_H

#include <mpi.h>

#include <cstdint>

#include "util/log.h"
#include "util/status.h"

namespace hps {

// How long a rank waits in HPS_Init; 0 is for ever.
struct Patience {
  std::uint32_t warn_s = 0;
  std::uint32_t give_up_s = 0;
  Log log;
};

class Arrival {
 public:
  // `own` is what is wrong on this rank. Nobody may receive MPI_ANY_TAG on comm meanwhile. Collective over comm.
  // Errors: that of the first rank that has one, with its name; peer_failed, of one that gave up.
  Status meet(MPI_Comm comm, const Status& own, const Patience& patience);

 private:
  Status count(MPI_Comm comm, std::uint32_t* number);

  int key_ = MPI_KEYVAL_INVALID;  // of the number of arrivals on a communicator
};

}  // namespace hps

#endif
