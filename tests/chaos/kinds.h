// SPDX-License-Identifier: BSD-3-Clause
// Kinds: which kinds of schedule are made at all. A kind that finds a known fault in HPS is off, with the reason, so
// that the others go on being checked; it is turned on here when the fault is mended.
#ifndef HPS_TESTS_CHAOS_KINDS_H
#define HPS_TESTS_CHAOS_KINDS_H

namespace hps::chaos {

struct Kinds {
  // Ranks that stop for good, and ranks killed before they had a connection to those who wait for them: only a time-out
  // finds them. While this is off a kill is told to every rank.
  bool time_outs = false;
  // Counts that lead members to different algorithms, or to none: their messages never meet, and the call hangs.
  bool mismatched_algorithms = false;
  // Several groups at once where HPS_SERVE_MEMORY holds only one: two may wait for each other at two owners.
  bool tight_memory_for_many = false;
  // What must be gone in the end even where a rank was lost: today groups stay at owners that miss the loss of a member
  // which still waits to JOIN, and failed groups that close JOIN again.
  bool leaks_after_loss = false;
};

}  // namespace hps::chaos

#endif
