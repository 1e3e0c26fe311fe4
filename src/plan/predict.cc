// SPDX-License-Identifier: BSD-3-Clause
// The seconds that a plan promises. Without every link's rate there is no promise: guessed figures choose algorithms
// (estimate.h), but are not told to users.
#include "plan/estimate.h"
#include "plan/plan.h"
#include "plan/rates.h"
#include "plan/shares.h"

namespace hps {

double Plan::bound_seconds(double bytes) const {
  if (n == 1) return 0;
  const Rates rates = rates_of(nodes);
  double seconds = -1;
  // An unknown rate is 0, which bound_seconds refuses.
  const Status status = hps::bound_seconds(bytes, rates.worker, rates.cpu_only, &seconds);
  return status.ok() ? seconds : -1;
}

double Plan::predicted_seconds(double bytes) const {
  if (n == 1 || !all_known(nodes)) return -1;
  if (algorithm(static_cast<std::uint64_t>(bytes)) == Algorithm::recursive_doubling)
    return recursive_doubling_seconds(*this, bytes);
  return direct_seconds(*this, bytes);
}

}  // namespace hps
