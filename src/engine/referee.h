// SPDX-License-Identifier: BSD-3-Clause
// Referee: what a group's member knows of calls that stand still. A call's referee is the member whose index is the
// call's number modulo the group's size; ranks whose call has not moved for some milliseconds report to it. So calls
// meet that would never meet otherwise: of other algorithms, with other owners, of no elements. Those who have not
// reported are asked in time, and at last named. While all goes well there is no report and no cost.
#ifndef HPS_SRC_ENGINE_REFEREE_H
#define HPS_SRC_ENGINE_REFEREE_H

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/stall_timer.h"
#include "util/status.h"
#include "wire/header.h"

namespace hps {

class Referee {
 public:
  struct Options {
    TimeNs inquire_ns = 1'000'000'000;  // a call that has stood still for so long: who has not come?
    TimeNs warn_ns = 60'000'000'000;    // then they are named, once; 0 = never
  };
  // What is to be done about a call.
  struct Action {
    enum class Kind { inquire, warn, look_for_lost };
    Kind kind = Kind::inquire;
    std::uint32_t sequence = 0;
    wire::Signature signature;
    std::vector<std::uint32_t> missing;  // members that have not come, as far as is known
  };

  explicit Referee(const Options& options) noexcept : options_(options) {}
  void open(std::vector<Rank> members) { members_ = std::move(members); }

  std::uint32_t of(std::uint32_t sequence) const noexcept {
    return sequence % static_cast<std::uint32_t>(members_.size());
  }

  // This rank's own call has begun, or ended: with what signature, for those who ask later. Not ok: it does not agree
  // with what has been reported.
  Status begin(std::uint32_t sequence, const wire::Signature& signature);
  void end(std::uint32_t sequence) noexcept;
  // The signature of this rank's call of that number; of collective none where it has not come to it, or where it is
  // long past.
  wire::Signature signature_of(std::uint32_t sequence) const noexcept;

  // `member` has come to a call and stands still (or, with Collective::none, has not come). Not ok: it does not agree
  // with what is known of others. Calls that are past here are compared, but not followed.
  Status on_report(std::uint32_t sequence, std::uint32_t member, const wire::Signature& signature, TimeNs now);

  // To be asked when something has happened, and at next(). `look_interval_ns`: how often lost ranks are looked for.
  std::vector<Action> look(TimeNs now, TimeNs look_interval_ns);
  TimeNs next() const noexcept { return next_ns_; }

 private:
  struct Case {
    wire::Signature signature;
    std::uint32_t first = 0;  // the member whose signature it is
    std::vector<bool> come;   // by member
    TimeNs since_ns = 0;
    bool inquired = false;
    bool warned = false;
    Interval looks;
  };
  struct Own {
    std::uint32_t sequence = 0;  // 0 = none: calls are numbered from 1
    wire::Signature signature;
  };
  // More than members can have under way, and little memory.
  static constexpr std::size_t most_cases = 256;

  Own& own(std::uint32_t sequence) noexcept { return own_[sequence % own_.size()]; }
  bool is_past(std::uint32_t sequence) const noexcept { return static_cast<std::int32_t>(sequence - ended_) <= 0; }
  Action action(Action::Kind kind, std::uint32_t sequence, const Case& one) const;

  Options options_;
  std::vector<Rank> members_;
  std::array<Own, 64> own_{};  // this rank's latest calls
  std::uint32_t ended_ = 0;    // the last of them that is over
  std::map<std::uint32_t, Case> cases_;
  TimeNs next_ns_ = never_ns;
};

}  // namespace hps

#endif
