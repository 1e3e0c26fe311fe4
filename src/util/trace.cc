// SPDX-License-Identifier: BSD-3-Clause
#include "util/trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <system_error>

namespace hps {
namespace {

constexpr std::array<const char*, trace_stages> stage_names = {"push", "sum", "result", "wait"};

// More than the longest span takes, with the name of its row.
constexpr std::size_t most_bytes_a_span = 1024;

const char* name_of(TraceStage stage) { return stage_names[static_cast<std::size_t>(stage)]; }

// Lanes of a stage come after the first lanes of all.
unsigned row_number(TraceStage stage, std::uint8_t lane) {
  return 1 + static_cast<unsigned>(stage) + static_cast<unsigned>(trace_stages) * lane;
}

std::string in_quotes(const std::string& text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (static_cast<unsigned char>(letter) < ' ') continue;
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + '"';
}

std::string error_text(int error) { return std::system_category().message(error); }

}  // namespace

// Where events are put into words. What does not fit is cut off, which the room for it keeps from happening.
class Trace::Text {
 public:
  Text(char* room, std::size_t bytes) noexcept : room_(room), bytes_(bytes) {}

  [[gnu::format(printf, 2, 3)]] void print(const char* format, ...) noexcept {
    va_list arguments;
    va_start(arguments, format);
    const int printed = std::vsnprintf(room_ + used_, bytes_ - used_, format, arguments);
    va_end(arguments);
    if (printed > 0) used_ = std::min(used_ + static_cast<std::size_t>(printed), bytes_ - 1);
  }
  // Microseconds.
  void print_time(const char* key, TimeNs ns) noexcept {
    const TimeNs positive = std::max<TimeNs>(ns, 0);
    print(",\"%s\":%lld.%03d", key, static_cast<long long>(positive / 1000), static_cast<int>(positive % 1000));
  }

  const char* data() const noexcept { return room_; }
  std::size_t size() const noexcept { return used_; }

 private:
  char* room_;
  std::size_t bytes_;
  std::size_t used_ = 0;
};

std::function<TimeNs()> wall_clock() {
  using std::chrono::duration_cast;
  using std::chrono::nanoseconds;
  using std::chrono::steady_clock;
  using std::chrono::system_clock;
  constexpr std::chrono::sys_days zero = std::chrono::year(2026) / std::chrono::January / 1;
  const auto steady_ns = [] { return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count(); };
  const TimeNs ahead_ns = duration_cast<nanoseconds>(system_clock::now() - zero).count() - steady_ns();
  return [steady_ns, ahead_ns] { return ahead_ns + steady_ns(); };
}

Trace::Trace(const TraceOptions& options, int file)
    : options_(options),
      file_(file),
      process_(static_cast<int>(getpid())),
      spans_(std::max(options.spans, std::size_t{1})),
      text_(std::make_unique<char[]>(spans_a_write * most_bytes_a_span)) {}

Status Trace::create(const TraceOptions& options, std::unique_ptr<Trace>* trace) {
  TraceOptions own = options;
  own.path += '.' + std::to_string(options.rank);
  const int file = open(own.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    return {Code::invalid_config, "HPS_TRACE=" + options.path + ": rank " + std::to_string(options.rank) +
                                      " cannot open " + own.path + ": " + error_text(errno)};
  std::unique_ptr<Trace> made(new Trace(own, file));
  HPS_RETURN_IF_ERROR(made->write_head());
  *trace = std::move(made);
  return {};
}

Trace::~Trace() {
  while (write_some()) {
  }
  if (!broken_ && is_owner()) {
    Text text(text_.get(), most_bytes_a_span);
    text.print("\n");
    static_cast<void>(write(text));  // a file without it is whole too
  }
  close(file_);
}

// Who this is. Every file begins with it, so that each can be looked at alone.
Status Trace::write_head() {
  const std::string name = "rank " + std::to_string(options_.rank) + ", host " + options_.host + ", " +
                           (options_.role == Role::worker ? "worker" : "CPU-only");
  const int pid = static_cast<int>(options_.rank);
  Text text(text_.get(), spans_a_write * most_bytes_a_span);
  text.print("%c\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"tid\":0,\"args\":{\"name\":%s}}",
             pid == 0 ? '[' : ',', pid, in_quotes(name).c_str());
  text.print(",\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%d,\"tid\":0,\"args\":{\"sort_index\":%d}}", pid,
             pid);
  for (std::size_t stage = 0; stage < trace_stages; ++stage) name_row(text, static_cast<TraceStage>(stage), 0);
  const int error = write(text);
  if (error == 0) return {};
  broken_ = true;
  return {Code::invalid_config, "HPS_TRACE: rank " + std::to_string(options_.rank) + " cannot write " + options_.path +
                                    ": " + error_text(error)};
}

void Trace::name_row(Text& text, TraceStage stage, std::uint8_t lane) noexcept {
  const int pid = static_cast<int>(options_.rank);
  const unsigned tid = row_number(stage, lane);
  named_rows_[static_cast<std::size_t>(stage)] |= std::uint64_t{1} << lane;
  text.print(",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%u,\"args\":{\"name\":\"%s", pid, tid,
             name_of(stage));
  if (lane != 0) text.print(" %d", lane + 1);
  text.print("\"}},\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%d,\"tid\":%u,\"args\":{\"sort_index\":%u}}",
             pid, tid, static_cast<unsigned>(stage) * static_cast<unsigned>(most_lanes) + lane);
}

std::uint8_t Trace::take_wait_lane() noexcept {
  const int lane = std::min(std::countr_one(wait_lanes_), static_cast<int>(most_lanes) - 1);
  wait_lanes_ |= std::uint64_t{1} << lane;
  return static_cast<std::uint8_t>(lane);
}

void Trace::free_wait_lane(std::uint8_t lane) noexcept { wait_lanes_ &= ~(std::uint64_t{1} << lane); }

void Trace::add(const TraceSpan& span) noexcept {
  if (broken_) return;
  if (waiting_ == spans_.size()) write_some();
  if (waiting_ == spans_.size()) return;  // it has broken now
  spans_[(first_ + waiting_) % spans_.size()] = span;
  ++waiting_;
}

void Trace::put(Text& text, const TraceSpan& span) noexcept {
  const std::uint8_t lane = std::min<std::uint8_t>(span.lane, most_lanes - 1);
  if ((named_rows_[static_cast<std::size_t>(span.stage)] >> lane & 1) == 0) name_row(text, span.stage, lane);
  const bool nests = span.stage == TraceStage::sum || span.stage == TraceStage::wait;
  const int pid = static_cast<int>(options_.rank);
  const unsigned tid = row_number(span.stage, lane);
  // Another one on every rank: viewers ask for no more than the same category and the same id.
  const auto id = static_cast<unsigned long long>(static_cast<std::uint64_t>(options_.rank) << 40 | next_id_);
  text.print(",\n{\"ph\":\"%c\",\"cat\":\"hps\",\"name\":\"%s\",\"pid\":%d,\"tid\":%u", nests ? 'X' : 'b', span.name,
             pid, tid);
  if (!nests) text.print(",\"id\":\"0x%llx\"", id);
  text.print_time("ts", span.begin_ns);
  if (nests) text.print_time("dur", span.end_ns - span.begin_ns);
  text.print(",\"args\":{\"group\":\"%d.%u\",\"call\":%u", static_cast<int>(span.group_root), span.group_counter,
             span.call);
  if (span.chunk != TraceSpan::no_chunk) text.print(",\"chunk\":%llu", static_cast<unsigned long long>(span.chunk));
  if (span.peer != no_rank) text.print(",\"peer\":%d", static_cast<int>(span.peer));
  text.print(",\"bytes\":%llu", static_cast<unsigned long long>(span.bytes));
  if (span.stage == TraceStage::wait)
    text.print(",\"algorithm\":\"%s\",\"plan\":%u,\"failed\":%s", span.algorithm, unsigned{span.plan},
               span.failed ? "true" : "false");
  text.print("}}");
  if (nests) return;
  ++next_id_;
  text.print(",\n{\"ph\":\"e\",\"cat\":\"hps\",\"name\":\"%s\",\"pid\":%d,\"tid\":%u,\"id\":\"0x%llx\"", span.name, pid,
             tid, id);
  text.print_time("ts", span.end_ns);
  text.print("}");
}

bool Trace::is_owner() const noexcept { return getpid() == process_; }

bool Trace::write_some() noexcept {
  if (waiting_ == 0) return false;
  if (!is_owner()) broken_ = true;
  const std::size_t count = broken_ ? waiting_ : std::min(waiting_, spans_a_write);
  Text text(text_.get(), spans_a_write * most_bytes_a_span);
  for (std::size_t i = 0; i < count && !broken_; ++i) put(text, spans_[(first_ + i) % spans_.size()]);
  first_ = (first_ + count) % spans_.size();
  waiting_ -= count;
  if (const int error = broken_ ? 0 : write(text); error != 0) give_up(error);
  return true;
}

int Trace::write(const Text& text) noexcept {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(file_, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    done += static_cast<std::size_t>(written);
  }
  written_bytes_ += static_cast<std::int64_t>(done);
  return 0;
}

// What was half written would spoil the rest of a timeline of several files. What cannot be shortened was no file.
void Trace::give_up(int error) noexcept try {
  broken_ = true;
  waiting_ = 0;
  const bool whole = ftruncate(file_, written_bytes_) == 0;
  options_.log.warn("HPS_TRACE: cannot write " + options_.path + ": " + error_text(error) + "; it ends " +
                    (whole ? "here" : "in the midst of an event"));
} catch (const std::bad_alloc&) {
  broken_ = true;  // too little memory for a warning
}

}  // namespace hps
