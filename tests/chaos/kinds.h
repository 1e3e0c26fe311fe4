// SPDX-License-Identifier: BSD-3-Clause
// Kinds: which kinds of schedule are made at all. A kind that finds a known fault in HPS is off, with the reason, so
// that the others go on being checked; it is turned on here when the fault is mended, and by --kind NAME before.
#ifndef HPS_TESTS_CHAOS_KINDS_H
#define HPS_TESTS_CHAOS_KINDS_H

namespace hps::chaos {

struct Kinds {
  // Ranks that stop for good, and ranks killed before they had a connection to those who wait for them: only a time-out
  // finds them. While this is off a kill is told to every rank.
  bool time_outs = false;
  // Calls that do not match where owners sum. The call hangs if messages never meet: members use different algorithms,
  // or none, or wait for owners that member 0 has no chunk for, and so does not describe the group to. And a member
  // that comes late hangs if an owner has forgotten the mismatch: it does when this rank calls again with no chunk
  // there.
  bool mismatch_at_owners = false;
  // Several groups at once where HPS_SERVE_MEMORY holds only one: two may wait for each other at two owners.
  bool tight_memory_for_many = false;
  // What must be gone in the end even where a call failed or a rank was lost. Membership::closed() forgets links that
  // are open with a second JOIN unanswered: nobody takes leave of that owner. Services miss the loss of a member that
  // still waits to JOIN, and failed groups that close JOIN again.
  bool leaks_after_failure = false;
  // A group whose last calls fail at an owner, or need no messages: who has joined leaves, the owner forgets the group
  // and the failure, and a member that comes later waits there for an answer to its JOIN.
  bool failure_at_the_end = false;
  // Groups that open, or are being opened, when a connection between two of their ranks has been lost: the Engine tells
  // a loss once, to the groups that are open then, and a member that only waits for the other never learns of it.
  bool groups_after_loss = false;
  // A JOIN or a push that comes twice, which no transport does. JOIN: the refusal of the second may overtake the answer
  // to the first, and then fails the group; where the group has been left, it lives again for ever. Push: of a chunk
  // that has been summed it is no duplicate to the owner, which with one remote member sums it again and takes the call
  // to be over before its last chunks have come.
  bool replays = false;
  // Workers that end as HPS without HPS_Init does, when their own part is done: others, whose last call needs nothing
  // from them any more, take their goodbye for a failure of that call.
  bool leave_early = false;
};

struct NamedKind {
  const char* name;
  bool Kinds::*kind;
};

// For the command line: chaos --kind NAME.
inline constexpr NamedKind named_kinds[] = {
    {"time_outs", &Kinds::time_outs},
    {"mismatch_at_owners", &Kinds::mismatch_at_owners},
    {"tight_memory_for_many", &Kinds::tight_memory_for_many},
    {"leaks_after_failure", &Kinds::leaks_after_failure},
    {"failure_at_the_end", &Kinds::failure_at_the_end},
    {"groups_after_loss", &Kinds::groups_after_loss},
    {"replays", &Kinds::replays},
    {"leave_early", &Kinds::leave_early},
};

}  // namespace hps::chaos

#endif
