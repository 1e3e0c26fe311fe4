// SPDX-License-Identifier: BSD-3-Clause
#include "util/trace.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace hps {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

class TraceTest : public testing::Test {
 protected:
  TraceTest() {
    std::string name = testing::TempDir() + "hps-trace-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~TraceTest() override { std::filesystem::remove_all(folder_); }

  TraceOptions options(Rank rank = 0) {
    TraceOptions options;
    options.path = folder_ + "/t";
    options.rank = rank;
    options.host = "h";
    options.clock = [this] { return now_; };
    return options;
  }
  std::unique_ptr<Trace> open(const TraceOptions& options) {
    std::unique_ptr<Trace> trace;
    const Status status = Trace::create(options, &trace);
    EXPECT_TRUE(status.ok()) << status.to_string();
    return trace;
  }
  std::string text(Rank rank = 0) const { return text_of(path(rank)); }
  std::string path(Rank rank = 0) const { return folder_ + "/t." + std::to_string(rank); }

  static TraceSpan span(TraceStage stage, const char* name) {
    TraceSpan span;
    span.stage = stage;
    span.name = name;
    span.group_root = 2;
    span.group_counter = 1;
    span.call = 7;
    span.bytes = 16384;
    span.begin_ns = 1'000'500;
    span.end_ns = 2'000'750;
    return span;
  }

  std::string folder_;
  TimeNs now_ = 0;
};

TEST_F(TraceTest, BeginsWithWhoItIsAsSoonAsItIsThere) {
  const std::unique_ptr<Trace> first = open(options());
  EXPECT_EQ(text().substr(0, 2), "[\n");
  EXPECT_NE(text().find(R"({"ph":"M","name":"process_name","pid":0,"tid":0,"args":{"name":"rank 0, host h, worker"}})"),
            std::string::npos)
      << text();
  EXPECT_NE(text().find(R"({"ph":"M","name":"thread_name","pid":0,"tid":4,"args":{"name":"wait"}})"),
            std::string::npos);
  TraceOptions of_other = options(12);
  of_other.role = Role::cpu_only;
  of_other.host = "a\"b\\c\n";
  const std::unique_ptr<Trace> other = open(of_other);
  EXPECT_EQ(text(12).substr(0, 2), ",\n");
  EXPECT_NE(text(12).find(R"("rank 12, host a\"b\\c, CPU-only")"), std::string::npos) << text(12);
}

TEST_F(TraceTest, WritesCallsAndSumsAsCompleteEvents) {
  std::unique_ptr<Trace> trace = open(options(3));
  TraceSpan call = span(TraceStage::wait, "HPS_Allreduce_hetero");
  call.algorithm = "direct";
  call.plan = 4;
  trace->add(call);
  call.failed = true;
  trace->add(call);
  TraceSpan sum = span(TraceStage::sum, "sum");
  sum.chunk = 5;
  trace->add(sum);
  trace.reset();
  const std::string expected =
      R"({"ph":"X","cat":"hps","name":"HPS_Allreduce_hetero","pid":3,"tid":4,"ts":1000.500,"dur":1000.250,)"
      R"("args":{"group":"2.1","call":7,"bytes":16384,"algorithm":"direct","plan":4,"failed":false}})";
  EXPECT_NE(text(3).find(expected), std::string::npos) << text(3);
  EXPECT_EQ(count_of(text(3), "\"failed\":true"), 1u);
  EXPECT_NE(text(3).find(R"("name":"sum","pid":3,"tid":2,"ts":1000.500,"dur":1000.250,"args":{"group":"2.1","call":7,)"
                         R"("chunk":5,"bytes":16384}})"),
            std::string::npos)
      << text(3);
}

TEST_F(TraceTest, WritesPushesAsPairsWithAnIdOfTheirOwn) {
  std::unique_ptr<Trace> trace = open(options(3));
  TraceSpan push = span(TraceStage::push, "push");
  push.chunk = 0;
  push.peer = 9;
  trace->add(push);
  trace->add(push);
  trace.reset();
  EXPECT_NE(text(3).find(R"({"ph":"b","cat":"hps","name":"push","pid":3,"tid":1,"id":"0x30000000001","ts":1000.500,)"
                         R"("args":{"group":"2.1","call":7,"chunk":0,"peer":9,"bytes":16384}})"),
            std::string::npos)
      << text(3);
  EXPECT_NE(text(3).find(R"({"ph":"e","cat":"hps","name":"push","pid":3,"tid":1,"id":"0x30000000001","ts":2000.750})"),
            std::string::npos)
      << text(3);
  EXPECT_EQ(count_of(text(3), R"("id":"0x30000000002")"), 2u);
}

TEST_F(TraceTest, WhatGoesOnAtOnceHasRowsOfItsOwn) {
  std::unique_ptr<Trace> trace = open(options());
  EXPECT_EQ(trace->take_wait_lane(), 0);
  EXPECT_EQ(trace->take_wait_lane(), 1);
  EXPECT_EQ(trace->take_wait_lane(), 2);
  trace->free_wait_lane(1);
  EXPECT_EQ(trace->take_wait_lane(), 1);
  for (int i = 0; i < 200; ++i) EXPECT_LT(trace->take_wait_lane(), 64);
  TraceSpan sum = span(TraceStage::sum, "sum");
  sum.lane = 1;
  trace->add(sum);
  trace->add(sum);
  trace.reset();
  EXPECT_EQ(count_of(text(), R"("tid":6,"args":{"name":"sum 2"}})"), 1u) << text();
  EXPECT_EQ(count_of(text(), R"("name":"sum","pid":0,"tid":6)"), 2u) << text();
}

TEST_F(TraceTest, WritesWhenItsMemoryIsFullWhenItIsTimeAndAtTheEnd) {
  TraceOptions small = options();
  small.spans = 100;
  std::unique_ptr<Trace> trace = open(small);
  const TraceSpan sum = span(TraceStage::sum, "sum");
  const auto written = [&] { return count_of(text(), "\"ph\":\"X\""); };
  for (int i = 0; i < 100; ++i) trace->add(sum);
  EXPECT_EQ(written(), 0u);
  trace->add(sum);
  EXPECT_EQ(written(), 64u);
  EXPECT_TRUE(trace->write_some());
  EXPECT_EQ(written(), 101u);
  EXPECT_FALSE(trace->write_some());
  for (int i = 0; i < 1000; ++i) trace->add(sum);
  trace.reset();
  EXPECT_EQ(written(), 1101u);
}

TEST_F(TraceTest, TimesBeforeTheBeginningAreTheBeginning) {
  std::unique_ptr<Trace> trace = open(options());
  TraceSpan sum = span(TraceStage::sum, "sum");
  sum.begin_ns = -5;
  sum.end_ns = 5;
  trace->add(sum);
  trace.reset();
  EXPECT_NE(text().find(R"("ts":0.000,"dur":0.010)"), std::string::npos) << text();
}

TEST_F(TraceTest, AFileThatCannotBeMadeIsAnErrorThatSaysWhich) {
  TraceOptions nowhere = options(2);
  nowhere.path = folder_ + "/no/such/t";
  std::unique_ptr<Trace> trace;
  const Status status = Trace::create(nowhere, &trace);
  EXPECT_EQ(status.code(), Code::invalid_config);
  EXPECT_NE(status.text().find("rank 2 cannot open " + folder_ + "/no/such/t.2: No such file or directory"),
            std::string::npos)
      << status.text();
  EXPECT_EQ(trace, nullptr);
}

TEST_F(TraceTest, AFullDiskAtTheStartIsAnError) {
  if (symlink("/dev/full", path(1).c_str()) != 0 || access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  std::unique_ptr<Trace> trace;
  const Status status = Trace::create(options(1), &trace);
  EXPECT_NE(status.text().find("cannot write " + path(1) + ": No space left on device"), std::string::npos)
      << status.text();
  EXPECT_EQ(trace, nullptr);
}

// Files may not grow beyond so many bytes, until the end of the block.
class FileLimit {
 public:
  explicit FileLimit(std::size_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST_F(TraceTest, AFullDiskLaterIsOneWarningAndLeavesWholeEvents) {
  std::unique_ptr<Trace> trace = open(options());
  const std::string head = text();
  const TraceSpan sum = span(TraceStage::sum, "sum");
  std::string said;
  testing::internal::CaptureStderr();
  {
    const FileLimit limit(head.size() + 1000);
    for (int i = 0; i < 50; ++i) trace->add(sum);
    EXPECT_TRUE(trace->write_some());
    for (int i = 0; i < 50; ++i) trace->add(sum);
    EXPECT_FALSE(trace->write_some());
    trace.reset();
  }
  said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said, "hps warn: HPS_TRACE: cannot write " + path() + ": File too large; it ends here\n");
  EXPECT_EQ(text(), head);
}

TEST_F(TraceTest, AForkedProcessWritesNothing) {
  std::unique_ptr<Trace> trace = open(options());
  trace->add(span(TraceStage::sum, "sum"));
  const pid_t child = fork();
  if (child == 0) {
    trace->add(span(TraceStage::sum, "sum"));
    trace->write_some();
    trace.reset();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(count_of(text(), "\"ph\":\"X\""), 0u);
  trace.reset();
  EXPECT_EQ(count_of(text(), "\"ph\":\"X\""), 1u);
}

TEST_F(TraceTest, TheWallClockGoesForwardFromTheBeginningOf2026) {
  const std::function<TimeNs()> clock = wall_clock();
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const TimeNs expected = std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count() -
                          TimeNs{1'767'225'600} * 1'000'000'000;  // date -d 2026-01-01 +%s
  const TimeNs first = clock();
  EXPECT_NEAR(static_cast<double>(first), static_cast<double>(expected), 1e9);
  EXPECT_LE(first, clock());
}

}  // namespace
}  // namespace hps
