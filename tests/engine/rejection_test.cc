// SPDX-License-Identifier: BSD-3-Clause
// Messages that do not fit are dropped and counted, and change no result.
#include <gtest/gtest.h>

#include "engine/simulation.h"
#include "wire/join.h"

namespace hps::test {
namespace {

using wire::MessageType;

// Three workers and two CPU-only ranks, 3 and 4. A call of worker 0 has begun and waits for the others; worker 1's
// machine sends what it should not.
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
  std::uint64_t rejected(std::uint32_t rank) { return simulation_.engine(rank).service().counters().rejected; }
  void send(Rank to, const wire::Header& header, ConstBytes payload) {
    struct Ignore : SendCompletion {
      void on_sent(const Status&) noexcept override {}
    };
    static Ignore ignore;
    const wire::HeaderBytes bytes = wire::encode(header);
    ASSERT_TRUE(simulation_.transport(1).send(to, bytes, payload, &ignore).ok());
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
  void expect_rejected(Rank to, const wire::Header& header, std::size_t payload_bytes) {
    const std::vector<std::byte> payload(payload_bytes, std::byte{0x55});
    const std::uint64_t before = rejected(static_cast<std::uint32_t>(to));
    send(to, header, payload);
    EXPECT_EQ(rejected(static_cast<std::uint32_t>(to)), before + 1);
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
  expect_rejected(3, header, 4096);
  expect_right_result();
}

TEST_F(RejectionTest, AnUnknownHandle) {
  wire::Header header = push(3);
  for (std::uint32_t handle : {0u, 77u, 0xffffffffu}) {
    header.handle = handle;
    expect_rejected(3, header, 4096);
  }
  header.type = MessageType::result;
  expect_rejected(
      0,
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
  expect_rejected(3, header, 4096);
  expect_right_result();
}

TEST_F(RejectionTest, ACallThatIsOver) {
  wire::Header header = push(3);
  header.sequence = 1;
  expect_rejected(3, header, 4096);
  expect_right_result();
}

TEST_F(RejectionTest, AChunkThatDoesNotExistOrIsAnothers) {
  wire::Header header = push(3);
  const Plan& plan = simulation_.membership(group_, 0).plan();
  header.chunk = static_cast<std::uint32_t>(plan.chunking(count, 4).chunks);
  expect_rejected(3, header, 4096);
  header.chunk = UINT32_MAX;
  expect_rejected(3, header, 4096);
  for (header.chunk = 0; plan.owners[plan.owner_of(header.chunk)].rank == 3; ++header.chunk) {
  }
  expect_rejected(3, header, 4096);
  expect_right_result();
}

TEST_F(RejectionTest, AWrongLength) {
  wire::Header header = push(3);
  const Plan& plan = simulation_.membership(group_, 0).plan();
  for (header.chunk = 0; plan.owners[plan.owner_of(header.chunk)].rank != 3; ++header.chunk) {
  }
  for (std::size_t bytes : {0u, 1u, 4092u, 5000u}) expect_rejected(3, header, bytes);
  expect_right_result();
}

TEST_F(RejectionTest, ADuplicate) {
  // Worker 0's own pushes again, as its handle at rank 3 names them.
  wire::Header header = push(3);
  const Plan& plan = simulation_.membership(group_, 0).plan();
  for (header.chunk = 0; plan.owners[plan.owner_of(header.chunk)].rank != 3; ++header.chunk) {
  }
  const std::size_t bytes = plan.chunking(count, 4).elements_per_chunk * 4;
  expect_rejected(3, header, bytes);
  expect_right_result();
}

TEST_F(RejectionTest, BytesThatAreNoHeaderAndPayloadsThatAreNoJoin) {
  struct Ignore : SendCompletion {
    void on_sent(const Status&) noexcept override {}
  } ignore;
  const std::vector<std::byte> noise(40, std::byte{0xa5});
  for (std::size_t length = 0; length <= noise.size(); ++length) {
    const std::uint64_t before = rejected(3);
    ASSERT_TRUE(simulation_.transport(1).send(3, ConstBytes(noise).first(length), noise, &ignore).ok());
    simulation_.network().run();
    EXPECT_EQ(rejected(3), before + 1) << length;
  }
  wire::Header header = push(3);
  header.type = MessageType::join;
  expect_rejected(3, header, 5);
  header.type = MessageType::leave;
  header.handle = 12345;
  expect_rejected(3, header, 0);
  expect_right_result();
}

TEST_F(RejectionTest, AResultThatNobodyAwaits) {
  wire::Header header = push(0);
  header.type = MessageType::result;
  header.handle = simulation_.membership(group_, 0).handle();
  header.sequence = 1;
  expect_rejected(0, header, 4096);  // its call is over
  header.sequence = 2;
  header.signature.count = 5;
  expect_rejected(0, header, 4096);  // of another signature
  expect_right_result();
}

}  // namespace
}  // namespace hps::test
