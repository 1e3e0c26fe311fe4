// SPDX-License-Identifier: BSD-3-Clause
// Schedule: what a seed means. The job (ranks, nodes, rates, delays), its groups and their calls, and the faults that
// hit it. It follows from the seed and the switched-on kinds alone; a World carries it out.
#ifndef HPS_TESTS_CHAOS_SCHEDULE_H
#define HPS_TESTS_CHAOS_SCHEDULE_H

#include <cstdint>
#include <string>
#include <vector>

#include "chaos/kinds.h"
#include "plan/plan.h"
#include "transport/fake/network.h"
#include "util/types.h"

namespace hps::chaos {

// One call of one group.
struct CallPlan {
  enum class Trouble : std::uint8_t {
    none,
    mismatch,       // one member calls with another count, datatype or op
    local_failure,  // one member cannot take part
  };
  std::uint64_t count = 0;
  std::size_t reduction = 0;  // in reductions()
  bool in_place = false;
  Trouble trouble = Trouble::none;
  std::uint32_t odd_member = 0;  // whose trouble it is
  std::uint64_t odd_count = 0;   // mismatch: what that member calls with
  std::size_t odd_reduction = 0;
  std::vector<TimeNs> delays_ns;  // by member: from the end of its call before to this one
};

struct GroupPlan {
  std::vector<Rank> members;
  TimeNs open_at_ns = 0;                // from the start, or from the end of the group `after`
  std::int32_t after = -1;              // index of the group that must be closed before; -1 = none
  std::vector<TimeNs> open_delays_ns;   // by member
  bool renews = false;                  // links are measured after each call, and the plan made anew where they differ
  std::vector<TimeNs> close_delays_ns;  // by member, from the end of its last call
  std::vector<CallPlan> calls;
};

struct Fault {
  enum class Kind : std::uint8_t {
    stop,            // `rank` does nothing for duration_ns, or ever again
    slow,            // the rates of `rank`'s host become a tenth
    stray,           // what `rank` got once comes again, with another token, or changed and from another rank
    random_bytes,    // `rank` gets a message of random bytes
    random_fields,   // `rank` gets a header that decodes, with its token and with fields by chance
    truncate,        // what `rank` got once comes again, cut
    duplicate,       // what `rank` got once comes again
    flip_signature,  // what `rank` got once comes again, with another datatype, op or count
    flip_any,        // what `rank` got once comes again, with bits of its header flipped
    cut,             // the connection of `rank` and `other` breaks
    kill,            // `rank` dies
    goodbye,         // `rank` says that it ends, in the midst of things, and does
  };
  Kind kind = Kind::stop;
  double place = 0;  // of all messages of the run without faults, how many (0 .. 1) have been delivered when it comes
  std::uint32_t rank = 0;
  std::uint32_t other = 0;
  TimeNs duration_ns = 0;
  std::uint64_t random = 0;  // what else is left to chance
};

struct Schedule {
  std::uint64_t seed = 0;
  std::uint32_t workers = 1;
  std::uint32_t cpu_only = 0;
  std::uint32_t ranks_a_node = 1;
  std::vector<double> rates;  // by host, workers' hosts first
  bool rates_known = false;   // to the plans
  fake::NetworkOptions network;
  PlanOptions plan;
  bool tight_memory = false;  // HPS_SERVE_MEMORY just lets the largest group in
  bool leave_early = false;   // workers end one by one, as soon as they have nothing left to do
  std::vector<GroupPlan> groups;
  std::vector<Fault> faults;

  std::uint32_t ranks() const noexcept { return workers + cpu_only; }
  std::uint32_t hosts_of(std::uint32_t count) const noexcept { return (count + ranks_a_node - 1) / ranks_a_node; }
  std::uint32_t host(std::uint32_t rank) const noexcept {
    if (rank < workers) return rank / ranks_a_node;
    return hosts_of(workers) + (rank - workers) / ranks_a_node;
  }
};

Schedule make_schedule(std::uint64_t seed, const Kinds& kinds);

// The whole schedule in words, a line for the job and one for each group and fault.
std::string describe(const Schedule& schedule);
const char* name_of(Fault::Kind kind) noexcept;

}  // namespace hps::chaos

#endif
