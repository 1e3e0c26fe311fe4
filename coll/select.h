// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm carries out a call. The choice follows from the plan and the message size alone, so that all ranks
// make the same.
#ifndef HPS_COLL_SELECT_H
#define HPS_COLL_SELECT_H

#include <memory>

#include "coll/allreduce_hetero/allreduce_hetero.h"

namespace hps {

std::unique_ptr<Operation> make_allreduce_hetero(Membership& membership, const allreduce_hetero::Arguments& arguments);

}  // namespace hps

#endif
