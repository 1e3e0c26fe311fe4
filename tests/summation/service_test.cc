// SPDX-License-Identifier: BSD-3-Clause
// The Summation Service alone, told by hand what its peers would send: who is answered what, and when memory is
// granted.
#include "summation/service.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "plan/layout.h"
#include "wire/abort.h"

namespace hps {
namespace {

using wire::MessageType;

// Keeps what is sent; a send completes at once unless `hold` is set.
class Outbox final : public hps::Outbox {
 public:
  struct Sent {
    Rank to;
    wire::Header header;
    std::vector<std::byte> payload;
  };

  Status send(Rank to, wire::Header header, ConstBytes payload, SendCompletion* completion) override {
    sent.push_back({to, header, {payload.begin(), payload.end()}});
    if (hold)
      held.push_back(completion);
    else if (completion != nullptr)
      completion->on_sent({});
    return {};
  }
  Status send_copy(Rank to, const wire::Header& header, std::vector<std::byte> payload) override {
    sent.push_back({to, header, std::move(payload)});
    return {};
  }
  std::vector<Sent> take() { return std::exchange(sent, {}); }

  bool hold = false;
  std::vector<SendCompletion*> held;
  std::vector<Sent> sent;
};

constexpr Rank self = 9;
constexpr std::uint64_t count = 64;  // two chunks of 128 bytes

// Workers 0 and 1 on two nodes, and this CPU-only rank, which owns everything.
wire::GroupSpec spec(std::uint32_t counter = 1) {
  wire::GroupSpec spec;
  spec.id = {0, counter};
  spec.members = {0, 1};
  spec.layout = layout_from_nodes({0, 1});
  spec.plan.n = 2;
  spec.plan.k = 1;
  spec.plan.nodes = {{false, 0, 0}, {false, 0, 0}, {true, 0, 1}};
  spec.plan.owners = {{self, 2, 1}};
  spec.plan.chunk_bytes = spec.plan.min_chunk_bytes = 128;
  spec.plan.window = 4;
  spec.plan.rotation = 1;
  EXPECT_TRUE(spec.plan.finish().ok());
  return spec;
}

class ServiceTest : public testing::Test {
 protected:
  void join(std::uint32_t member, bool with_spec, std::uint32_t counter = 1) {
    const std::vector<std::byte> encoded = wire::encode(spec(counter));
    wire::Join join{{0, counter}, member, 100 + member, wire::hash(encoded), {}};
    if (with_spec) join.spec = encoded;
    wire::Header header;
    header.type = MessageType::join;
    service.on_join(header, wire::encode(join));
  }
  // The reply to a join, which must be all that was sent.
  wire::JoinReply reply_to(Rank member) {
    const auto sent = outbox.take();
    wire::JoinReply reply;
    EXPECT_EQ(sent.size(), 1u);
    if (sent.size() != 1) return reply;
    EXPECT_EQ(sent[0].to, member);
    EXPECT_EQ(sent[0].header.type, MessageType::join_reply);
    EXPECT_EQ(sent[0].header.handle, 100u + static_cast<std::uint32_t>(member));
    EXPECT_TRUE(wire::decode(sent[0].payload, &reply));
    return reply;
  }
  static wire::Header header(MessageType type, std::uint32_t handle, std::uint32_t chunk = 0,
                             std::uint32_t sequence = 1) {
    wire::Header header;
    header.type = type;
    header.plan = 1;
    header.handle = handle;
    header.sequence = sequence;
    header.chunk = chunk;
    header.signature = {wire::Collective::allreduce_hetero, Datatype::int32, Op::sum, count};
    return header;
  }
  void push(std::uint32_t handle, std::uint32_t chunk, std::int32_t value, std::uint32_t sequence = 1) {
    const std::vector<std::int32_t> values(32, value);
    service.on_push(header(MessageType::push, handle, chunk, sequence), std::as_bytes(std::span(values)));
  }
  static std::int32_t first_value(const Outbox::Sent& sent) {
    std::int32_t value = 0;
    std::memcpy(&value, sent.payload.data(), sizeof value);
    return value;
  }

  Outbox outbox;
  Service service{{self, 100'000, 1, Log(LogLevel::error, self)}, outbox};
};

TEST_F(ServiceTest, AMemberThatKnowsOnlyTheHashWaitsForTheOneThatSendsTheSpec) {
  join(1, false);
  EXPECT_TRUE(outbox.take().empty());
  join(0, true);
  const auto sent = outbox.take();
  ASSERT_EQ(sent.size(), 2u);
  for (const auto& one : sent) EXPECT_EQ(one.header.type, MessageType::join_reply);
}

TEST_F(ServiceTest, ASpecOfAnotherHashIsRefused) {
  join(0, true);
  EXPECT_TRUE(reply_to(0).error.empty());
  wire::Join other{{0, 1}, 1, 101, 12345, {}};
  service.on_join(header(MessageType::join, 0), wire::encode(other));
  EXPECT_NE(reply_to(1).error.find("differs"), std::string::npos);
}

TEST_F(ServiceTest, AChunkIsSummedWhenTheLastContributionComes) {
  join(0, true);
  const wire::JoinReply zero = reply_to(0);
  join(1, false);
  const wire::JoinReply one = reply_to(1);
  EXPECT_GE(zero.credits, 1u);
  push(zero.handle, 1, 40);
  EXPECT_TRUE(outbox.take().empty());
  push(one.handle, 1, 2);
  const auto sent = outbox.take();
  ASSERT_EQ(sent.size(), 2u);
  for (const auto& result : sent) {
    EXPECT_EQ(result.header.type, MessageType::result);
    EXPECT_EQ(result.header.chunk, 1u);
    EXPECT_EQ(result.payload.size(), 128u);
    EXPECT_EQ(first_value(result), 42);
  }
  EXPECT_NE(sent[0].to, sent[1].to);
  EXPECT_EQ(service.counters().chunks, 1u);
}

// A communicator may make any number of calls that this owner hears nothing of, small ones for example.
TEST_F(ServiceTest, AFirstCallFarInTheSequenceIsNotOver) {
  join(0, true);
  const std::uint32_t zero = reply_to(0).handle;
  join(1, false);
  const std::uint32_t one = reply_to(1).handle;
  for (std::uint32_t sequence : {0x90000000u, 0xfffffff0u, 5u}) {
    for (std::uint32_t chunk : {0u, 1u}) {
      push(zero, chunk, 1, sequence);
      push(one, chunk, 2, sequence);
    }
    EXPECT_EQ(outbox.take().size(), 4u) << sequence;
    push(zero, 0, 1, sequence);  // now it is
    push(zero, 0, 1, sequence - 1000);
  }
  EXPECT_EQ(service.counters().rejected(Rejection::late), 6u);
}

TEST_F(ServiceTest, TheGroupIsFreedWhenAllHaveLeftAndResultsAreSent) {
  join(0, true);
  const std::uint32_t zero = reply_to(0).handle;
  join(1, false);
  const std::uint32_t one = reply_to(1).handle;
  outbox.hold = true;
  for (std::uint32_t chunk : {0u, 1u}) {
    push(zero, chunk, 1);
    push(one, chunk, 2);
  }
  service.on_leave(header(MessageType::leave, zero));
  service.on_leave(header(MessageType::leave, one));
  service.collect();
  EXPECT_EQ(service.groups(), 1u) << "its results are still being sent";
  for (SendCompletion* completion : outbox.held) completion->on_sent({});
  service.collect();
  EXPECT_EQ(service.groups(), 0u);
  EXPECT_EQ(service.reserved_bytes(), 0u);
  push(zero, 0, 1, 2);
  EXPECT_EQ(service.counters().rejected(Rejection::late), 1u) << "its handle is gone";
  EXPECT_EQ(service.counters().joins, 2u);
}

TEST_F(ServiceTest, ContributionsThatDifferAbortTheCallOnAllMembers) {
  join(0, true);
  const std::uint32_t zero = reply_to(0).handle;
  join(1, false);
  const std::uint32_t one = reply_to(1).handle;
  push(zero, 0, 1);
  wire::Header other = header(MessageType::push, one);
  other.signature.op = Op::max;
  const std::vector<std::byte> payload(128);
  service.on_push(other, payload);
  const auto sent = outbox.take();
  ASSERT_EQ(sent.size(), 2u);
  for (const auto& abort : sent) {
    EXPECT_EQ(abort.header.type, MessageType::abort);
    EXPECT_NE(wire::decode_abort(abort.payload).text().find("operation max differs from sum"), std::string::npos);
  }
  // The next call works, and takes the memory of the failed one along.
  for (std::uint32_t chunk : {0u, 1u}) {
    push(zero, chunk, 1, 2);
    push(one, chunk, 2, 2);
  }
  EXPECT_EQ(outbox.take().size(), 4u);
  EXPECT_FALSE(service.sending());
}

// Two groups of one credit fit.
class TightServiceTest : public ServiceTest {
 protected:
  void join_tight(std::uint32_t counter, std::uint32_t member, std::uint32_t sequence) {
    const std::vector<std::byte> encoded = wire::encode(spec(counter));
    const wire::Join join{{0, counter}, member, 10 * counter + member, wire::hash(encoded), encoded};
    tight.on_join(header(MessageType::join, 0, 0, sequence), wire::encode(join));
  }
  // The handle that was given to a member, which must be the latest message.
  std::uint32_t handle_of(std::uint32_t counter, std::uint32_t member) {
    const auto sent = outbox.take();
    wire::JoinReply reply;
    EXPECT_FALSE(sent.empty());
    if (sent.empty()) return 0;
    EXPECT_EQ(sent.back().header.type, MessageType::join_reply);
    EXPECT_EQ(sent.back().header.handle, 10 * counter + member);
    EXPECT_TRUE(wire::decode(sent.back().payload, &reply));
    EXPECT_EQ(reply.error, "");
    return reply.handle;
  }
  void push_tight(std::uint32_t handle, std::uint32_t chunk, std::uint32_t sequence) {
    const std::vector<std::int32_t> values(32, 1);
    tight.on_push(header(MessageType::push, handle, chunk, sequence), std::as_bytes(std::span(values)));
  }

  static constexpr std::uint64_t memory = 3 * 128 * 2;
  Service tight{{self, memory, 1, Log(LogLevel::error, self)}, outbox};
};

TEST_F(TightServiceTest, GroupsBeyondTheMemoryWaitUntilOthersAreGone) {
  join_tight(1, 0, 5);
  const std::uint32_t zero = handle_of(1, 0);
  join_tight(1, 1, 5);
  const std::uint32_t one = handle_of(1, 1);
  join_tight(2, 0, 5);
  handle_of(2, 0);
  join_tight(3, 0, 5);
  EXPECT_TRUE(outbox.take().empty());
  EXPECT_EQ(tight.reserved_bytes(), memory);
  for (std::uint32_t handle : {zero, one}) tight.on_leave(header(MessageType::leave, handle));
  tight.collect();
  EXPECT_NE(handle_of(3, 0), 0u);
  EXPECT_EQ(tight.reserved_bytes(), memory);
}

TEST_F(TightServiceTest, AnIdleGroupGivesItsMemoryUpAndIsLetInAgain) {
  join_tight(1, 0, 0);
  const std::uint32_t idle = handle_of(1, 0);
  join_tight(2, 0, 7);
  handle_of(2, 0);
  join_tight(3, 0, 7);
  auto sent = outbox.take();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].header.type, MessageType::revoke);
  EXPECT_EQ(sent[0].header.handle, 10u);
  EXPECT_EQ(sent[0].header.signature.count, idle);
  EXPECT_EQ(sent[1].header.type, MessageType::join_reply);
  push_tight(idle, 0, 7);
  EXPECT_EQ(tight.counters().rejected(Rejection::late), 1u) << "it was sent before the member knew";
  // An older call than those under way.
  join_tight(1, 0, 6);
  sent = outbox.take();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].header.type, MessageType::revoke);
  EXPECT_EQ(sent[0].header.handle, 20u);
  EXPECT_EQ(tight.reserved_bytes(), memory);
}

TEST_F(TightServiceTest, AnOlderCallIsNotDisturbedByAYoungerOne) {
  join_tight(1, 0, 5);
  const std::uint32_t first = handle_of(1, 0);
  join_tight(2, 0, 5);
  handle_of(2, 0);
  push_tight(first, 0, 5);
  for (std::uint32_t call : {5u, 6u, 70u}) join_tight(3, 1, call);
  tight.collect();
  EXPECT_TRUE(outbox.take().empty());
  EXPECT_EQ(tight.counters().revoked, 0u);
}

TEST_F(ServiceTest, WhatAMemberPushesBeyondItsCreditsIsRejected) {
  join(0, true);
  const wire::JoinReply zero = reply_to(0);
  for (std::uint32_t sequence = 1; sequence <= zero.credits + 4; ++sequence) push(zero.handle, 0, 1, sequence);
  EXPECT_EQ(service.counters().pushes, zero.credits);
  EXPECT_EQ(service.counters().rejected(Rejection::too_many), 4u);
}

// A replay, or one that was sent again because the leave to push had been revoked.
TEST_F(ServiceTest, APushToAChunkThatHasBeenSummedIsRejected) {
  join(0, true);
  const std::uint32_t zero = reply_to(0).handle;
  join(1, false);
  const std::uint32_t one = reply_to(1).handle;
  push(zero, 1, 1);
  push(one, 1, 2);
  EXPECT_EQ(outbox.take().size(), 2u);
  for (std::uint32_t handle : {zero, one}) push(handle, 1, 9);
  EXPECT_EQ(service.counters().rejected(Rejection::late), 2u);
  push(zero, 0, 1);
  push(one, 0, 2);
  EXPECT_EQ(outbox.take().size(), 2u);
}

TEST_F(ServiceTest, ACancelledCallIsAnsweredWhenNothingOfItIsSentAnyMore) {
  join(0, true);
  const std::uint32_t zero = reply_to(0).handle;
  join(1, false);
  const std::uint32_t one = reply_to(1).handle;
  outbox.hold = true;
  push(zero, 0, 1);
  push(one, 0, 2);  // its result is on its way
  outbox.take();
  service.on_cancel(header(MessageType::cancel, zero), wire::encode_abort({Code::mismatch, "no"}));
  EXPECT_TRUE(outbox.take().empty());
  for (SendCompletion* completion : outbox.held) completion->on_sent({});
  service.collect();
  const auto sent = outbox.take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].header.type, MessageType::cancel_reply);
  EXPECT_EQ(sent[0].to, 0);
  push(one, 1, 1);
  EXPECT_EQ(outbox.take().at(0).header.type, MessageType::abort) << "whoever pushes is told";
}

TEST_F(ServiceTest, AGroupWithALostMemberLetsNobodyIn) {
  service.on_peer_failed(1, {Code::peer_failed, "rank 1 is gone", 1});
  join(0, true);
  EXPECT_NE(reply_to(0).error.find("rank 1 is gone"), std::string::npos);
}

TEST_F(ServiceTest, AJoinAsTheOwnerItselfIsRefusedWithoutAnAnswer) {
  wire::GroupSpec with_self = spec();
  with_self.members = {self, 1};
  const std::vector<std::byte> encoded = wire::encode(with_self);
  const wire::Join join{with_self.id, 0, 100, wire::hash(encoded), encoded};
  service.on_join(header(MessageType::join, 0), wire::encode(join));
  EXPECT_TRUE(outbox.take().empty()) << "an outbox sends nothing to its own process";
  EXPECT_EQ(service.counters().rejected(Rejection::unknown_rank), 1u);
  EXPECT_EQ(service.reserved_bytes(), 0u);
}

// A handle that was given out once is not unknown: who was let in again may have sent under the old one before.
TEST_F(ServiceTest, WhatIsRejectedIsCountedByReason) {
  join(0, true);
  const std::uint32_t zero = reply_to(0).handle;
  const auto expect_one = [&](Rejection reason, const std::function<void()>& action) {
    const Counters before = service.counters();
    action();
    EXPECT_EQ(service.counters().rejected(reason), before.rejected(reason) + 1) << static_cast<int>(reason);
    EXPECT_EQ(service.counters().rejected(), before.rejected() + 1);
  };
  const std::vector<std::byte> payload(128);
  const wire::Header right = header(MessageType::push, zero);
  const auto push_with = [&](auto change, std::size_t bytes = 128) {
    return [&, change, bytes] {
      wire::Header changed = right;
      change(changed);
      service.on_push(changed, ConstBytes(payload).first(bytes));
    };
  };
  expect_one(Rejection::unknown_group, push_with([](wire::Header& one) { one.handle = 77; }));
  expect_one(Rejection::unknown_plan, push_with([](wire::Header& one) { one.plan = 2; }));
  expect_one(Rejection::unknown_chunk, push_with([](wire::Header& one) { one.chunk = 2; }));
  expect_one(Rejection::malformed, push_with([](wire::Header&) {}, 127));
  push(zero, 0, 1);
  expect_one(Rejection::duplicate, push_with([](wire::Header&) {}));
  for (auto type : {MessageType::leave, MessageType::cancel}) {
    const wire::Header unknown = header(type, 5u << 20);
    expect_one(Rejection::unknown_group,
               [&] { type == MessageType::leave ? service.on_leave(unknown) : service.on_cancel(unknown, {}); });
  }
  expect_one(Rejection::malformed,
             [&] { service.on_join(header(MessageType::join, 0), ConstBytes(payload).first(5)); });
  expect_one(Rejection::malformed, [&] { service.on_join(header(MessageType::join, 0), payload); });
  expect_one(Rejection::late, [&] { join(0, true); });
  expect_one(Rejection::unknown_rank, [&] { join(2, true); });
  service.on_leave(header(MessageType::leave, zero));
  expect_one(Rejection::late, push_with([](wire::Header&) {}));
}

// Neither is answered, for the member would take the answer for its own.
TEST_F(ServiceTest, AJoinOfAnotherThanTheMemberIsRejectedOnceTheGroupIsKnown) {
  const std::vector<std::byte> encoded = wire::encode(spec());
  wire::Join described{{0, 1}, 0, 100, wire::hash(encoded), encoded};
  service.on_join(header(MessageType::join, 0), wire::encode(described), 1);
  EXPECT_EQ(service.counters().rejected(Rejection::wrong_source), 1u);
  EXPECT_EQ(service.groups() + service.undescribed_groups(), 0u);
  const wire::Join early{{0, 1}, 1, 101, wire::hash(encoded), {}};
  service.on_join(header(MessageType::join, 0), wire::encode(early), 0);
  EXPECT_EQ(service.counters().rejected(Rejection::wrong_source), 1u) << "who member 1 is, is not known yet";
  service.on_join(header(MessageType::join, 0), wire::encode(described), 0);
  EXPECT_EQ(service.counters().rejected(Rejection::wrong_source), 2u);
  EXPECT_NE(reply_to(0).handle, 0u);
  service.on_join(header(MessageType::join, 0), wire::encode(early), 1);
  EXPECT_NE(reply_to(1).handle, 0u) << "the member itself is let in";
}

TEST_F(ServiceTest, AMemberThatIsRefusedIsCountedAsThat) {
  join(0, true);
  outbox.take();
  const wire::Join other{{0, 1}, 1, 101, 12345, {}};
  service.on_join(header(MessageType::join, 0), wire::encode(other));
  EXPECT_EQ(service.counters().refused, 1u);
  EXPECT_EQ(service.counters().rejected(), 0u) << "it was told why";
}

TEST_F(ServiceTest, JoinsWithoutDescriptionAreBounded) {
  const std::uint64_t most = 1u << 16;
  for (std::uint32_t i = 0; i < most + 10; ++i) {
    const wire::Join join{{5, i}, 1, 101, 1, {}};
    service.on_join(header(MessageType::join, 0), wire::encode(join));
  }
  EXPECT_EQ(service.undescribed_groups(), most);
  EXPECT_EQ(service.counters().rejected(Rejection::too_many), 10u);
}

}  // namespace
}  // namespace hps
