// SPDX-License-Identifier: BSD-3-Clause
// A schedule in words.
#include <sstream>

#include "chaos/reductions.h"
#include "chaos/schedule.h"

namespace hps::chaos {
namespace {

std::string signature(std::uint64_t count, std::size_t reduction) {
  const Reduction& one = reductions()[reduction];
  return std::to_string(count) + " " + datatype_name(one.datatype) + " " + op_name(one.op);
}

void describe_job(const Schedule& schedule, std::ostream& out) {
  out << "seed " << schedule.seed << ": " << schedule.workers << " workers, " << schedule.cpu_only << " CPU-only, "
      << schedule.ranks_a_node << " ranks a node, rates";
  for (double rate : schedule.rates) out << ' ' << rate;
  out << (schedule.rates_known ? " (known)" : " (unknown)") << ", delay " << schedule.network.delay_ns << " ns, jitter "
      << schedule.network.jitter_ns << " ns, chunk " << schedule.plan.chunk_bytes << ", window " << schedule.plan.window
      << ", latency " << schedule.plan.latency_s << ", algorithm "
      << (schedule.plan.algorithm == Algorithm::automatic ? "automatic" : algorithm_name(schedule.plan.algorithm))
      << (schedule.tight_memory ? ", tight memory" : "") << (schedule.leave_early ? ", workers leave early" : "")
      << '\n';
}

void describe_group(const GroupPlan& group, std::ostream& out) {
  for (Rank member : group.members) out << ' ' << member;
  out << "; opens " << group.open_at_ns << " ns after ";
  if (group.after < 0)
    out << "the start";
  else
    out << "group " << group.after;
  for (const CallPlan& call : group.calls) {
    out << "; " << signature(call.count, call.reduction) << (call.in_place ? " in place" : "");
    if (call.trouble == CallPlan::Trouble::mismatch)
      out << ", but " << signature(call.odd_count, call.odd_reduction) << " on member " << call.odd_member;
    if (call.trouble == CallPlan::Trouble::local_failure) out << ", member " << call.odd_member << " cannot";
  }
  out << '\n';
}

}  // namespace

const char* name_of(Fault::Kind kind) noexcept {
  constexpr const char* names[] = {"stop",          "slow",     "stray",     "random_bytes",
                                   "random_fields", "truncate", "duplicate", "flip_signature",
                                   "flip_any",      "cut",      "kill",      "goodbye"};
  return names[static_cast<std::size_t>(kind)];
}

std::string describe(const Schedule& schedule) {
  std::ostringstream out;
  describe_job(schedule, out);
  for (std::size_t g = 0; g < schedule.groups.size(); ++g) {
    out << "  group " << g << ": members";
    describe_group(schedule.groups[g], out);
  }
  for (const Fault& fault : schedule.faults) {
    out << "  fault: " << name_of(fault.kind) << " rank " << fault.rank;
    if (fault.kind == Fault::Kind::cut) out << " from rank " << fault.other;
    if (fault.kind == Fault::Kind::stop) out << " for " << fault.duration_ns << " ns";
    out << ", after " << fault.place * 100 << " % of the messages\n";
  }
  return out.str();
}

}  // namespace hps::chaos
