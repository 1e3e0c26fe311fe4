// SPDX-License-Identifier: BSD-3-Clause
// Messages that do not fit are dropped and counted, and change no result.
#include <gtest/gtest.h>

#include "engine/simulation.h"
#include "wire/join.h"
#include "wire/sender.h"

namespace hps::test {
namespace {

using wire::MessageType;

// Three workers and two CPU-only ranks, 3 and 4. A call of worker 0 has begun and waits for the others, when a rank
// gets what it should not: from nobody knows where, or from a rank that the transport knows.
class RejectionTest : public testing::Test {
 protected:
  RejectionTest() : simulation_(options()), group_(simulation_.open_group_of_all()), call_(simulation_, group_, count) {
    Call first(simulation_, group_, count, 1);
    first.start_all();
    simulation_.network().run();
    EXPECT_TRUE(first.done());
    call_.start(0);
    simulation_.network().run();
  }

  static constexpr std::uint64_t count = 30'000;
  static SimulationOptions options() {
    SimulationOptions options;
    options.workers = 3;
    options.cpu_only = 2;
    options.plan.algorithm = Algorithm::direct;
    options.plan.chunk_bytes = 4096;
    return options;
  }
  const Counters& counters(Rank rank) {
    return simulation_.engine(static_cast<std::uint32_t>(rank)).service().counters();
  }
  void send(Rank to, const wire::Header& header, ConstBytes payload, Rank source = no_rank) {
    simulation_.engine(static_cast<std::uint32_t>(to)).on_message(source, wire::encode(header), payload);
    simulation_.network().wake(to);
    simulation_.network().run();
  }
  // A push that would be right but for what the test changes: handle 1 << 20 | place as HandleTable gives it out.
  wire::Header push(Rank to) {
    wire::Header header;
    header.type = MessageType::push;
    header.plan = 1;
    header.token = Simulation::token(static_cast<std::uint32_t>(to));
    header.handle = 1u << 20;
    header.sequence = 2;
    header.signature = {wire::Collective::allreduce_hetero, Datatype::float32, Op::sum, count};
    return header;
  }
  void expect_rejected(Rejection why, Rank to, const wire::Header& header, std::size_t payload_bytes) {
    expect_rejected(why, to, header, std::vector<std::byte>(payload_bytes, std::byte{0x55}));
  }
  void expect_rejected(Rejection why, Rank to, const wire::Header& header, const std::vector<std::byte>& payload,
                       Rank source = no_rank) {
    const Counters before = counters(to);
    send(to, header, payload, source);
    EXPECT_EQ(counters(to).rejected(why), before.rejected(why) + 1) << "reason " << static_cast<int>(why);
    EXPECT_EQ(counters(to).rejected(), before.rejected() + 1);
    EXPECT_EQ(counters(to).messages, before.messages + 1);
  }
  // A message that names worker 0's group at worker 0.
  wire::Header to_member(MessageType type) {
    wire::Header header = push(0);
    header.type = type;
    header.handle = simulation_.membership(group_, 0).handle();
    return header;
  }
  void expect_right_result() {
    call_.start(1);
    call_.start(2);
    simulation_.network().run();
    ASSERT_TRUE(call_.done());
    EXPECT_EQ(call_.wrong(), 0u);
  }

  Simulation simulation_;
  std::size_t group_;
  Call call_;
};

TEST_F(RejectionTest, AWrongToken) {
  wire::Header header = push(3);
  header.token ^= 1;
  expect_rejected(Rejection::wrong_token, 3, header, 4096);
  expect_right_result();
}

TEST_F(RejectionTest, AnUnknownHandle) {
  wire::Header header = push(3);
  for (std::uint32_t handle : {0u, 77u, 0xffffffffu}) {
    header.handle = handle;
    expect_rejected(Rejection::unknown_group, 3, header, 4096);
  }
  header.type = MessageType::result;
  expect_rejected(
      Rejection::unknown_group, 0,
      [&] {
        header.token = Simulation::token(0);
        return header;
      }(),
      4096);
  expect_right_result();
}

TEST_F(RejectionTest, AnUnknownPlan) {
  wire::Header header = push(3);
  header.plan = 2;
  expect_rejected(Rejection::unknown_plan, 3, header, 4096);
  expect_right_result();
}

TEST_F(RejectionTest, ACallThatIsOver) {
  wire::Header header = push(3);
  header.sequence = 1;
  expect_rejected(Rejection::late, 3, header, 4096);
  expect_right_result();
}

TEST_F(RejectionTest, AChunkThatDoesNotExistOrIsAnothers) {
  wire::Header header = push(3);
  const Plan& plan = simulation_.membership(group_, 0).plan();
  header.chunk = static_cast<std::uint32_t>(plan.chunking(count, 4).chunks);
  expect_rejected(Rejection::unknown_chunk, 3, header, 4096);
  header.chunk = UINT32_MAX;
  expect_rejected(Rejection::unknown_chunk, 3, header, 4096);
  for (header.chunk = 0; plan.owners[plan.owner_of(header.chunk)].rank == 3; ++header.chunk) {
  }
  expect_rejected(Rejection::unknown_chunk, 3, header, 4096);
  expect_right_result();
}

TEST_F(RejectionTest, AWrongLength) {
  wire::Header header = push(3);
  const Plan& plan = simulation_.membership(group_, 0).plan();
  for (header.chunk = 0; plan.owners[plan.owner_of(header.chunk)].rank != 3; ++header.chunk) {
  }
  for (std::size_t bytes : {0u, 1u, 4092u, 5000u}) expect_rejected(Rejection::malformed, 3, header, bytes);
  expect_right_result();
}

TEST_F(RejectionTest, ADuplicate) {
  // Worker 0's own pushes again, as its handle at rank 3 names them.
  wire::Header header = push(3);
  const Plan& plan = simulation_.membership(group_, 0).plan();
  for (header.chunk = 0; plan.owners[plan.owner_of(header.chunk)].rank != 3; ++header.chunk) {
  }
  const std::size_t bytes = plan.chunking(count, 4).elements_per_chunk * 4;
  expect_rejected(Rejection::duplicate, 3, header, bytes);
  expect_right_result();
}

TEST_F(RejectionTest, BytesThatAreNoHeaderAndPayloadsThatAreNoJoin) {
  struct Ignore : SendCompletion {
    void on_sent(const Status&) noexcept override {}
  } ignore;
  const std::vector<std::byte> noise(40, std::byte{0xa5});
  for (std::size_t length = 0; length <= noise.size(); ++length) {
    const std::uint64_t before = counters(3).rejected(Rejection::not_hps);
    ASSERT_TRUE(simulation_.transport(1).send(3, ConstBytes(noise).first(length), noise, &ignore).ok());
    simulation_.network().run();
    EXPECT_EQ(counters(3).rejected(Rejection::not_hps), before + 1) << length;
  }
  wire::Header header = push(3);
  header.type = MessageType::join;
  expect_rejected(Rejection::malformed, 3, header, 5);
  header.type = MessageType::leave;
  header.handle = 12345;
  expect_rejected(Rejection::unknown_group, 3, header, 0);
  expect_right_result();
}

TEST_F(RejectionTest, AResultThatNobodyAwaits) {
  wire::Header header = to_member(MessageType::result);
  header.sequence = 1;
  expect_rejected(Rejection::late, 0, header, 4096);  // its call is over
  header.sequence = 2;
  header.signature.count = 5;
  expect_rejected(Rejection::unexpected, 0, header, 4096);  // of another signature
  expect_right_result();
}

TEST_F(RejectionTest, WhatOwnersDoNotSay) {
  for (MessageType type : {MessageType::join_reply, MessageType::leave_reply, MessageType::credit,
                           MessageType::cancel_reply, MessageType::revoke}) {
    wire::Header header = to_member(type);
    header.chunk = 99;
    expect_rejected(Rejection::unknown_rank, 0, header, 0);  // no such owner
  }
  wire::Header header = to_member(MessageType::join_reply);
  const auto& owners = simulation_.membership(group_, 0).plan().owners;
  while (owners[header.chunk].rank != 3) ++header.chunk;
  expect_rejected(Rejection::malformed, 0, header, 3);
  expect_rejected(Rejection::late, 0, header, wire::encode(wire::JoinReply{5, 6, 3, {}}));  // it has not asked
  header.type = MessageType::leave_reply;
  expect_rejected(Rejection::late, 0, header, 0);
  header.type = MessageType::credit;
  header.signature.count = std::uint64_t{1} << 32;
  expect_rejected(Rejection::malformed, 0, header, 0);
  expect_right_result();
}

TEST_F(RejectionTest, WhatMembersDoNotSay) {
  wire::Header exchange = to_member(MessageType::exchange);
  exchange.sequence = 1;
  expect_rejected(Rejection::late, 0, exchange, 8);
  exchange.sequence = 2;
  exchange.chunk = 3 * Membership::max_steps;
  expect_rejected(Rejection::unknown_rank, 0, exchange, 8);
  exchange.chunk = 1 * Membership::max_steps;
  expect_rejected(Rejection::unexpected, 0, exchange, 8);  // the call is not of that algorithm
  exchange.sequence = 3;
  send(0, exchange, {});
  expect_rejected(Rejection::duplicate, 0, exchange, 8);  // it is kept already
  wire::Header inquiry = to_member(MessageType::inquiry);
  expect_rejected(Rejection::malformed, 0, inquiry, 3);
  expect_rejected(Rejection::unknown_rank, 0, inquiry, wire::encode(wire::Sender{17, 1}));
  wire::Header report = to_member(MessageType::report);
  report.chunk = 4;
  expect_rejected(Rejection::unknown_rank, 0, report, 0);
  report.chunk = 1;
  expect_rejected(Rejection::unexpected, 0, report, 0);  // member 2 is this call's referee
  expect_right_result();
}

TEST_F(RejectionTest, WhatProcessesDoNotSay) {
  for (MessageType type : {MessageType::shutdown, MessageType::goodbye, MessageType::goodbye_reply, MessageType::ping,
                           MessageType::pong}) {
    wire::Header header = push(3);
    header.type = type;
    header.chunk = 99;
    expect_rejected(Rejection::unknown_rank, 3, header, 0);
  }
  wire::Header header = push(3);
  header.chunk = 1;
  header.type = MessageType::pong;
  expect_rejected(Rejection::late, 3, header, 0);  // nobody has asked
  header.type = MessageType::goodbye_reply;
  expect_rejected(Rejection::late, 3, header, 0);
  header.type = MessageType::shutdown;
  expect_rejected(Rejection::unexpected, 3, header, 0);  // there is no job
  expect_right_result();
}

TEST_F(RejectionTest, AnotherRankThanTheMessageNames) {
  // By chance or not, all is right but where it comes from: a push of worker 0, which it has not pushed in call 3.
  wire::Header header = push(3);
  const Plan& plan = simulation_.membership(group_, 0).plan();
  while (plan.owners[plan.owner_of(header.chunk)].rank != 3) ++header.chunk;
  const std::vector<std::byte> chunk(plan.chunking(count, 4).elements_per_chunk * 4);
  header.sequence = 3;
  for (MessageType type : {MessageType::push, MessageType::leave, MessageType::cancel}) {
    header.type = type;
    expect_rejected(Rejection::wrong_source, 3, header, chunk, 1);
  }
  for (MessageType type : {MessageType::shutdown, MessageType::goodbye, MessageType::goodbye_reply, MessageType::ping,
                           MessageType::pong}) {
    header = push(0);
    header.type = type;
    header.chunk = 2;
    expect_rejected(Rejection::wrong_source, 0, header, {}, 1);
  }
  std::uint32_t owner = 0;
  while (plan.owners[owner].rank != 3) ++owner;
  for (MessageType type : {MessageType::join_reply, MessageType::leave_reply, MessageType::credit,
                           MessageType::cancel_reply, MessageType::revoke}) {
    header = to_member(type);
    header.chunk = owner;
    expect_rejected(Rejection::wrong_source, 0, header, {}, 1);
  }
  header = to_member(MessageType::result);
  while (plan.owners[plan.owner_of(header.chunk)].rank != 3) ++header.chunk;
  expect_rejected(Rejection::wrong_source, 0, header, chunk, 4);
  header = to_member(MessageType::exchange);
  header.chunk = 2 * Membership::max_steps;
  expect_rejected(Rejection::wrong_source, 0, header, {}, 1);
  header = to_member(MessageType::report);
  header.chunk = 2;
  expect_rejected(Rejection::wrong_source, 0, header, {}, 1);
  header = to_member(MessageType::inquiry);
  expect_rejected(Rejection::wrong_source, 0, header, wire::encode(wire::Sender{2, 1 << 20}), 1);
  expect_right_result();
}

// Before the group is open nobody can tell whom a message names; it is looked at when it is.
TEST_F(RejectionTest, AnotherRankThanTheMessageNamesBeforeItsGroupIsOpen) {
  Membership& group = *simulation_.engine(0).add_group();
  wire::Header header = to_member(MessageType::exchange);
  header.handle = group.handle();
  header.sequence = 1;
  header.chunk = 2 * Membership::max_steps;
  send(0, header, {}, 1);
  EXPECT_EQ(counters(0).rejected(), 0u);
  wire::GroupSpec spec = simulation_.membership(group_, 0).spec();
  spec.id = {0, 77};
  ASSERT_TRUE(group.open(spec, {group.handle(), 1 << 20, 1 << 20}).ok());
  EXPECT_EQ(counters(0).rejected(Rejection::wrong_source), 1u);
  expect_right_result();
}

// Many of them at once, as when a process of another job knows the port.
TEST_F(RejectionTest, WhatWasRejectedIsToldInTheEnd) {
  const auto told = [&](Rank rank, LogLevel level) {
    EngineOptions options;
    options.self = rank;
    options.token = Simulation::token(static_cast<std::uint32_t>(rank));
    options.serve_memory_bytes = 1 << 20;
    options.log = Log(level, rank);
    fake::Network network({}, {{0}});
    Engine engine(options, network.add_rank(0, {}));
    wire::Header header = push(rank);
    for (std::uint32_t i = 0; i < 5; ++i) {
      header.token = options.token ^ (i < 3 ? 1 : 0);
      engine.on_message(no_rank, wire::encode(header), {});
    }
    header.type = MessageType::pong;
    header.chunk = 0;
    engine.add_peer(0, 1);
    engine.on_message(no_rank, wire::encode(header), {});
    testing::internal::CaptureStderr();
    engine.log_counters();
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(told(3, LogLevel::warn), "hps[3] warn: rank 3: 5 messages rejected: 3 wrong token, 2 unknown group\n");
  EXPECT_EQ(told(3, LogLevel::info),
            "hps[3] info: counted: 6 messages, 0 joins, 0 refused, 0 pushes, 0 chunks, 0 calls, 0 mismatches, "
            "0 revoked, 1 late, 3 wrong token, 2 unknown group\n"
            "hps[3] warn: rank 3: 5 messages rejected: 3 wrong token, 2 unknown group\n");
}

// What is late has its place in a job, and is no reason to warn.
TEST_F(RejectionTest, WhatIsLateIsNotWarnedOf) {
  wire::Header header = push(3);
  header.sequence = 1;
  expect_rejected(Rejection::late, 3, header, 4096);
  testing::internal::CaptureStderr();
  EXPECT_EQ(counters(3).describe_unusual(), "");
  simulation_.engine(3).log_counters();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  expect_right_result();
}

}  // namespace
}  // namespace hps::test
