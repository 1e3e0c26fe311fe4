// SPDX-License-Identifier: BSD-3-Clause
// RenewalPolicy: when a group should measure its links and look at its plan again. Pure: it is told of calls and of
// time. Measuring takes a tenth of a second or so on slow links, so it must be worth it: it is done once calls have
// taken as long themselves, again where calls take longer than their plan says, and now and then where a link is slower
// than others and may have recovered.
#ifndef HPS_SRC_PLAN_RENEWAL_POLICY_H
#define HPS_SRC_PLAN_RENEWAL_POLICY_H

#include "plan/plan.h"

namespace hps {

class RenewalPolicy {
 public:
  struct Options {
    double worth_it_s = 0.1;  // of calls, before links are measured for the first time
    bool always = false;      // after every call: to try what happens then
  };

  explicit RenewalPolicy(const Options& options) : options_(options) {}
  // A call of `bytes` bytes by direct placement took `seconds` from its first result to its last, of which lateness of
  // ranks is no part; it ended at `now_s`.
  void on_call(const Plan& plan, double bytes, double seconds, double now_s);
  bool wants_renewal() const noexcept { return wants_; }
  // The plan was looked at; that took `seconds`.
  void on_renewed(bool has_changed, double seconds, double now_s);

 private:
  Options options_;
  double spent_s_ = 0;  // in calls, since the plan was looked at
  int slow_calls_ = 0;  // in a row
  double not_before_s_ = 0;
  double cost_s_ = 0;  // of looking at the plan, the last time
  double pause_s_ = 0;
  bool wants_ = false;
};

}  // namespace hps

#endif
