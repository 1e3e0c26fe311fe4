// SPDX-License-Identifier: BSD-3-Clause
// Trace: the timeline of one process, for HPS_TRACE: what it pushed, summed and waited for, as a file in Chrome's trace
// event format, which chrome://tracing and ui.perfetto.dev show.
//
// Form: a JSON array whose closing bracket is left out, as the format allows, so that a file is whole whenever its
// process ends, and the files of all ranks, rank 0's first, are one timeline when they are put after each other: rank
// 0's begins with "[", those of others with ",". A rank is a process of the viewer (pid), a stage a thread (tid).
// Viewers draw events of one thread (ph X) right only where they nest; so sums and calls, which follow each other, are
// such events, and where several threads sum or call at once each has a row of its own, "sum 2"; pushes and results,
// many of which are under way at once, are asynchronous ones (ph b and e), which viewers gather in a row by their name.
// Source: "Trace Event Format"; https://perfetto.dev/docs/faq on events that overlap.
//
// Cost: a span is noted in memory that is allocated at the start, and the clock is read twice. It is put into words,
// some 200 bytes, and written when the process would sleep, when that memory is full, and at the end. Without HPS_TRACE
// there is no Trace: whoever notes spans asks a pointer for nullptr, which costs a call of 8 bytes 0.1 %
// (bench/RESULTS.md).
#ifndef HPS_SRC_UTIL_TRACE_H
#define HPS_SRC_UTIL_TRACE_H

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "util/log.h"
#include "util/status.h"
#include "util/types.h"

namespace hps {

// The rows of a rank, from top to bottom.
enum class TraceStage : std::uint8_t { push, sum, result, wait };
inline constexpr std::size_t trace_stages = 4;

// What was under way from one time to another. Names are not copied: they must outlive the Trace.
struct TraceSpan {
  static constexpr std::uint64_t no_chunk = UINT64_MAX;

  TraceStage stage = TraceStage::wait;
  std::uint8_t lane = 0;       // of the stage's rows: another one for what goes on at the same time
  bool failed = false;         // the call
  std::uint16_t plan = 0;      // of a call
  const char* name = "";       // in plain letters
  const char* algorithm = "";  // of a call
  Rank group_root = no_rank;   // the group's name: the world rank of its first member, and that rank's counter
  std::uint32_t group_counter = 0;
  std::uint32_t call = 0;  // its number in the group
  Rank peer = no_rank;     // to whom, or from whom
  std::uint64_t chunk = no_chunk;
  std::uint64_t bytes = 0;
  TimeNs begin_ns = 0;
  TimeNs end_ns = 0;
};

struct TraceOptions {
  std::string path;  // this process writes path.RANK
  Rank rank = no_rank;
  Role role = Role::worker;
  std::string host;
  std::function<TimeNs()> clock;  // any thread may read it
  std::size_t spans = 1u << 14;   // that memory has room for
  Log log;
};

// Nanoseconds since the beginning of 2026 by this host's clock as it is now, steady from here on: hosts agree as well
// as their clocks do. (Viewers keep times as floating-point numbers of microseconds, which are good for a nanosecond in
// a year, and for 250 since 1970.)
std::function<TimeNs()> wall_clock();

// One thread at a time, but for now().
class Trace {
 public:
  // Makes the file, or empties it. Error: invalid_config, naming the file and what the system says.
  static Status create(const TraceOptions& options, std::unique_ptr<Trace>* trace);
  // Writes what is left.
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  TimeNs now() const { return options_.clock(); }

  // Writes some of what waits where there is no room for more. A file that cannot be written any more ends with its
  // last whole span, and is told of once, as a warning.
  void add(const TraceSpan& span) noexcept;

  // The row of a call while it is under way.
  std::uint8_t take_wait_lane() noexcept;
  void free_wait_lane(std::uint8_t lane) noexcept;

  // For a thread that has nothing better to do: writes some of what waits. Whether there was any.
  bool write_some() noexcept;

 private:
  static constexpr std::size_t spans_a_write = 64;
  static constexpr std::size_t most_lanes = 64;

  class Text;

  Trace(const TraceOptions& options, int file);
  Status write_head();
  void name_row(Text& text, TraceStage stage, std::uint8_t lane) noexcept;
  void put(Text& text, const TraceSpan& span) noexcept;
  bool is_owner() const noexcept;
  // 0, or errno.
  int write(const Text& text) noexcept;
  void give_up(int error) noexcept;

  TraceOptions options_;
  int file_;
  int process_;  // that opened the file: one that is forked from it must not write
  bool broken_ = false;
  std::vector<TraceSpan> spans_;  // a ring
  std::size_t first_ = 0;         // that waits
  std::size_t waiting_ = 0;
  std::uint64_t next_id_ = 1;                             // of asynchronous events
  std::uint64_t wait_lanes_ = 0;                          // that are taken, a bit each
  std::array<std::uint64_t, trace_stages> named_rows_{};  // a bit a lane
  std::unique_ptr<char[]> text_;
  std::int64_t written_bytes_ = 0;
};

}  // namespace hps

#endif
