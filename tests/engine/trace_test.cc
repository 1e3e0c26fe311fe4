// SPDX-License-Identifier: BSD-3-Clause
// What calls leave in the timeline of every rank, read back from its files as JSON.
#include "util/trace.h"

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "engine/simulation.h"

namespace hps::test {
namespace {

// The members of an event by name, those of its arguments as "args.name"; strings without quotes.
using Event = std::map<std::string, std::string>;

// A JSON array of objects of strings, numbers, booleans and such objects: all that a timeline is made of. Strict, so
// that a test fails where a reader would.
class Reader {
 public:
  explicit Reader(std::string text) : text_(std::move(text)) {}

  // False where the text is no such thing.
  bool read(std::vector<Event>* events) {
    if (!take('[')) return false;
    do {
      events->emplace_back();
      if (!read_object("", &events->back())) return false;
    } while (take(','));
    return take(']') && at_ == text_.size();
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char letter) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }
  bool read_object(const std::string& prefix, Event* event) {
    if (!take('{')) return false;
    do {
      std::string name;
      if (!read_string(&name) || !take(':') || !read_value(prefix + name, event)) return false;
    } while (take(','));
    return take('}');
  }
  bool read_value(const std::string& name, Event* event) {
    skip_space();
    if (at_ == text_.size()) return false;
    if (text_[at_] == '{') return read_object(name + ".", event);
    std::string value;
    if (text_[at_] == '"' ? !read_string(&value) : !read_word(&value)) return false;
    return event->emplace(name, value).second;
  }
  bool read_string(std::string* string) {
    if (!take('"')) return false;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      string->push_back(text_[at_]);
    }
    return take('"');
  }
  bool read_word(std::string* word) {
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.'))
      word->push_back(text_[at_++]);
    return *word == "true" || *word == "false" ||
           (!word->empty() && std::isdigit(word->front()) && word->back() != '.');
  }

  std::string text_;
  std::size_t at_ = 0;
};

struct Span {
  double begin = 0;
  double end = 0;
  Event event;

  std::uint64_t number(const std::string& name) const { return std::stoull(event.at(name)); }
};

class TraceTest : public testing::Test {
 protected:
  TraceTest() {
    std::string name = testing::TempDir() + "hps-trace-XXXXXX";
    folder_ = mkdtemp(name.data());
    options_.workers = 4;
    options_.cpu_only = 2;
    options_.rate = 12.5e6;
    options_.plan.chunk_bytes = 1024;
    options_.trace = folder_ + "/t";
  }
  ~TraceTest() override { std::filesystem::remove_all(folder_); }

  // The timelines of all ranks, whose engines have ended, put after each other.
  void read() {
    std::ostringstream text;
    for (std::uint32_t rank = 0; rank < options_.workers + options_.cpu_only; ++rank)
      text << std::ifstream(options_.trace + "." + std::to_string(rank)).rdbuf();
    text << "]";
    std::vector<Event> events;
    ASSERT_TRUE(Reader(text.str()).read(&events)) << text.str();
    std::map<std::string, Span> open;
    for (const Event& event : events) {
      const std::string& kind = event.at("ph");
      if (kind == "M") continue;
      Span span{std::stod(event.at("ts")), 0, event};
      span.end = kind == "X" ? span.begin + std::stod(event.at("dur")) : 0;
      if (kind == "b") {
        ASSERT_TRUE(open.emplace(event.at("id"), span).second) << "two events with one id";
      } else if (kind == "e") {
        ASSERT_TRUE(open.contains(event.at("id")));
        Span begun = open.at(event.at("id"));
        begun.end = span.begin;
        EXPECT_EQ(begun.event.at("name"), event.at("name"));
        EXPECT_LE(begun.begin, begun.end);
        spans_.push_back(begun);
        open.erase(event.at("id"));
      } else {
        ASSERT_EQ(kind, "X");
        spans_.push_back(span);
      }
    }
    EXPECT_TRUE(open.empty());
  }

  std::vector<Span> find(const std::string& name, std::uint64_t rank) const {
    std::vector<Span> found;
    for (const Span& span : spans_) {
      if (span.event.at("name") == name && span.number("pid") == rank) found.push_back(span);
    }
    return found;
  }
  std::vector<Span> find(const std::string& name, std::uint64_t rank, std::uint64_t chunk) const {
    std::vector<Span> found = find(name, rank);
    std::erase_if(found, [&](const Span& span) { return span.number("args.chunk") != chunk; });
    return found;
  }

  // One all-reduce of so many floats; *owners: the rank that sums each chunk.
  void call(std::uint64_t count, std::vector<std::uint64_t>* owners = nullptr) {
    Simulation simulation(options_);
    const std::size_t group = simulation.open_group_of_all();
    Call call(simulation, group, count);
    call.start_all();
    simulation.network().run();
    ASSERT_TRUE(call.done());
    EXPECT_EQ(call.wrong(), 0u);
    if (owners == nullptr) return;
    const Plan& plan = simulation.membership(group, 0).plan();
    const std::uint64_t chunks = plan.chunking(count, sizeof(float)).chunks;
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk)
      owners->push_back(static_cast<std::uint64_t>(plan.owners[plan.owner_of(chunk)].rank));
  }

  // That the worker's push, its owner's sum and its result are there once each, and come one after the other.
  void expect_way(std::uint64_t chunk, std::uint64_t worker, std::uint64_t owner, const Span& wait) {
    const std::vector<Span> pushes = find("push", worker, chunk);
    const std::vector<Span> results = find("result", worker, chunk);
    const std::vector<Span> sums = find("sum", owner, chunk);
    ASSERT_EQ(sums.size(), 1u);
    ASSERT_EQ(pushes.size(), worker == owner ? 0u : 1u);
    ASSERT_EQ(results.size(), worker == owner ? 0u : 1u);
    if (worker == owner) return;
    for (const Span& span : {pushes[0], results[0]}) EXPECT_EQ(span.number("args.peer"), owner);
    EXPECT_EQ(pushes[0].number("args.bytes"), sums[0].number("args.bytes"));
    EXPECT_LE(wait.begin, pushes[0].begin);
    EXPECT_LT(pushes[0].begin, pushes[0].end);
    EXPECT_LT(pushes[0].begin, sums[0].begin);
    EXPECT_EQ(pushes[0].begin, results[0].begin);
    EXPECT_LT(sums[0].end, results[0].end);
    EXPECT_LE(results[0].end, wait.end);
  }

  std::string folder_;
  SimulationOptions options_;
  std::vector<Span> spans_;
};

TEST_F(TraceTest, EveryChunkIsPushedAndComesBackToEveryWorkerAndIsSummedOnce) {
  for (std::uint32_t threads : {1u, 2u}) {
    options_.sum_threads = threads;
    options_.plan.algorithm = Algorithm::direct;
    std::vector<std::uint64_t> owners;
    call(10'000, &owners);
    spans_.clear();
    read();
    ASSERT_EQ(owners.size(), 40u);
    for (std::uint64_t worker = 0; worker < 4; ++worker) {
      const std::vector<Span> waits = find("HPS_Allreduce_hetero", worker);
      ASSERT_EQ(waits.size(), 1u);
      EXPECT_EQ(waits[0].event.at("args.algorithm"), "direct");
      EXPECT_EQ(waits[0].event.at("args.failed"), "false");
      EXPECT_EQ(waits[0].number("args.bytes"), 40'000u);
      EXPECT_EQ(waits[0].number("args.call"), 1u);
      for (std::uint64_t chunk = 0; chunk < owners.size(); ++chunk) expect_way(chunk, worker, owners[chunk], waits[0]);
    }
    for (std::uint64_t chunk = 0; chunk < owners.size(); ++chunk) {
      ASSERT_EQ(find("send results", owners[chunk], chunk).size(), 1u);
      EXPECT_EQ(find("send results", owners[chunk], chunk)[0].begin, find("sum", owners[chunk], chunk)[0].end);
    }
    for (const char* name : {"sum", "send results"}) {
      std::size_t count = 0;
      for (std::uint64_t rank = 0; rank < 6; ++rank) count += find(name, rank).size();
      EXPECT_EQ(count, owners.size());
    }
    EXPECT_TRUE(find("HPS_Allreduce_hetero", 4).empty());
  }
}

TEST_F(TraceTest, RecursiveDoublingShowsTheCall) {
  options_.plan.algorithm = Algorithm::recursive_doubling;
  call(2);
  read();
  EXPECT_EQ(spans_.size(), 4u);
  for (std::uint64_t worker = 0; worker < 4; ++worker) {
    const std::vector<Span> waits = find("HPS_Allreduce_hetero", worker);
    ASSERT_EQ(waits.size(), 1u);
    EXPECT_EQ(waits[0].event.at("args.algorithm"), "recursive_doubling");
    EXPECT_LT(waits[0].begin, waits[0].end);
  }
}

TEST_F(TraceTest, ACallThatFailsSaysSo) {
  {
    Simulation simulation(options_);
    const std::size_t group = simulation.open_group_of_all();
    Call call(simulation, group, 10'000);
    for (std::uint32_t member = 0; member < 4; ++member) call.start(member, member == 2 ? 9'999 : 10'000);
    simulation.network().run();
    ASSERT_TRUE(call.done());
    EXPECT_FALSE(call.status(0).ok());
  }
  read();
  for (std::uint64_t worker = 0; worker < 4; ++worker) {
    ASSERT_EQ(find("HPS_Allreduce_hetero", worker).size(), 1u);
    EXPECT_EQ(find("HPS_Allreduce_hetero", worker)[0].event.at("args.failed"), "true");
  }
}

TEST_F(TraceTest, CallsOnTwoGroupsAtOnceHaveTwoRows) {
  {
    Simulation simulation(options_);
    const std::size_t first = simulation.open_group_of_all();
    const std::size_t second = simulation.open_group({0, 1, 3});
    Call one(simulation, first, 10'000);
    Call other(simulation, second, 20'000, 1);
    one.start_all();
    other.start_all();
    simulation.network().run();
    ASSERT_TRUE(one.done() && other.done());
    EXPECT_EQ(one.wrong() + other.wrong(), 0u);
  }
  read();
  const std::vector<Span> waits = find("HPS_Allreduce_hetero", 1);
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_NE(waits[0].event.at("tid"), waits[1].event.at("tid"));
  EXPECT_NE(waits[0].event.at("args.group"), waits[1].event.at("args.group"));
}

}  // namespace
}  // namespace hps::test
