// SPDX-License-Identifier: BSD-3-Clause
// Kinds: which kinds of schedule are made at all. A kind that finds a known fault in HPS is off, with the reason, so
// that the others go on being checked; it is turned on here when the fault is mended, and by --kind NAME before.
#ifndef HPS_TESTS_CHAOS_KINDS_H
#define HPS_TESTS_CHAOS_KINDS_H

namespace hps::chaos {

struct Kinds {
  // Ranks that stop for good, and ranks killed before they had a connection to those who wait for them: only a time-out
  // finds them. While this is off a kill is told to every rank.
  bool time_outs = true;
  // Calls that do not match where owners sum.
  bool mismatch_at_owners = true;
  // Several groups at once where HPS_SERVE_MEMORY holds only one.
  bool tight_memory_for_many = true;
  // What must be gone in the end even where a call failed or a rank was lost is looked for.
  bool leaks_after_failure = true;
  // Groups whose last calls fail at an owner, or need no messages, while a member comes later.
  bool failure_at_the_end = true;
  // Groups that open, or are being opened, when a connection between two of their ranks has been lost.
  bool groups_after_loss = true;
  // A JOIN or a push that comes twice, which no transport does.
  bool replays = true;
  // Workers that end as HPS without HPS_Init does, when their own part is done.
  bool leave_early = true;
  // Groups whose plans change between calls.
  bool renewals = true;
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
    {"renewals", &Kinds::renewals},
};

}  // namespace hps::chaos

#endif
