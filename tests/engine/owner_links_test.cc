// SPDX-License-Identifier: BSD-3-Clause
#include "engine/owner_links.h"

#include <gtest/gtest.h>

#include "engine/recording_outbox.h"
#include "wire/abort.h"
#include "wire/join.h"

namespace hps::test {
namespace {

using wire::MessageType;

constexpr std::uint32_t group_handle = 44;
constexpr std::uint32_t far = 3;  // the owner that is a CPU-only rank

// Workers 0, 1 and 2, CPU-only rank 3: each owns chunks, and is owner number its rank.
wire::GroupSpec three_workers() {
  wire::GroupSpec spec;
  spec.id = {0, 1};
  spec.members = {0, 1, 2};
  spec.layout = layout_from_nodes({0, 1, 2});
  std::vector<PlanNode> nodes;
  for (Rank rank = 0; rank < 4; ++rank) nodes.push_back({rank == far, 0, {rank}});
  EXPECT_TRUE(make_plan(nodes, {}, &spec.plan).ok());
  EXPECT_EQ(spec.plan.owners.size(), 4u);
  return spec;
}

class OwnerLinksTest : public testing::Test {
 protected:
  void SetUp() override { links_.open(spec_, 1); }

  static wire::Header from_owner(MessageType type, std::uint32_t owner = far) {
    wire::Header header;
    header.type = type;
    header.handle = group_handle;
    header.chunk = owner;
    return header;
  }
  // The number of messages of a type among those sent since the last time.
  std::vector<RecordingOutbox::Sent> sent(MessageType type) {
    std::vector<RecordingOutbox::Sent> found;
    for (auto& one : outbox_.take()) {
      if (one.header.type == type) found.push_back(one);
    }
    return found;
  }
  bool reply(std::uint32_t handle, std::uint32_t credits, const std::string& error = {}) {
    return links_.on_join_reply(from_owner(MessageType::join_reply),
                                wire::encode(wire::JoinReply{handle, credits, Rank{far}, error}),
                                &refusal_) == Rejection::none;
  }
  void let_in(std::uint32_t handle = 7, std::uint32_t credits = 2, std::uint32_t sequence = 1) {
    ASSERT_TRUE(links_.join(far, sequence).ok());
    ASSERT_TRUE(reply(handle, credits));
    ASSERT_TRUE(refusal_.ok());
    static_cast<void>(outbox_.take());
  }
  void push(std::uint32_t sequence) {
    wire::Header header;
    header.type = MessageType::push;
    header.sequence = sequence;
    ASSERT_TRUE(links_.push(far, header, {}, nullptr).ok());
  }
  bool credit(std::uint64_t credits) {
    wire::Header header = from_owner(MessageType::credit);
    header.signature.count = credits;
    return links_.on_credit(header) == Rejection::none;
  }
  bool cancelled(std::uint32_t sequence) {
    wire::Header header = from_owner(MessageType::cancel_reply);
    header.sequence = sequence;
    return links_.on_cancel_reply(header) == Rejection::none;
  }
  // Whether it took the leave to push away.
  bool revoke(std::uint32_t handle) {
    wire::Header header = from_owner(MessageType::revoke);
    header.signature.count = handle;
    bool revoked = false;
    EXPECT_EQ(links_.on_revoke(header, &revoked), Rejection::none);
    return revoked;
  }
  std::vector<Rank> awaited() {
    std::vector<Rank> ranks;
    links_.add_awaited(&ranks);
    return ranks;
  }

  wire::GroupSpec spec_ = three_workers();
  RecordingOutbox outbox_;
  OwnerLinks links_{1, group_handle, outbox_, Log(LogLevel::error, 1)};
  Status refusal_;
  const Status failure_{Code::mismatch, "rank 1: not that", 1};
};

TEST_F(OwnerLinksTest, AsksEveryOwnerButItselfOnce) {
  EXPECT_TRUE(links_.is_local(1));
  EXPECT_FALSE(links_.is_local(far));
  ASSERT_TRUE(links_.join_all().ok());
  ASSERT_TRUE(links_.join_all().ok());
  ASSERT_TRUE(links_.join(far, 5).ok());
  const auto joins = sent(MessageType::join);
  ASSERT_EQ(joins.size(), 3u);
  for (const auto& one : joins) EXPECT_NE(one.to, 1);
  EXPECT_EQ(awaited(), (std::vector<Rank>{0, 2, 3}));
  EXPECT_FALSE(links_.joined_all());
}

TEST_F(OwnerLinksTest, OnlyTheFirstMemberDescribesTheGroup) {
  OwnerLinks first(0, group_handle, outbox_, Log(LogLevel::error, 0));
  first.open(spec_, 0);
  ASSERT_TRUE(first.join(far, 1).ok());
  ASSERT_TRUE(links_.join(far, 1).ok());
  const auto joins = sent(MessageType::join);
  ASSERT_EQ(joins.size(), 2u);
  for (std::uint32_t member : {0u, 1u}) {
    wire::Join join;
    ASSERT_TRUE(wire::decode(joins[member].payload, &join));
    EXPECT_EQ(join.member, member);
    EXPECT_EQ(join.reply_handle, group_handle);
    EXPECT_EQ(join.spec_hash, wire::hash(wire::encode(spec_)));
    EXPECT_EQ(join.spec, member == 0 ? wire::encode(spec_) : std::vector<std::byte>());
    EXPECT_EQ(joins[member].header.sequence, 1u);
  }
}

TEST_F(OwnerLinksTest, AnOwnerThatIsNoMemberHasNobodyToAsk) {
  OwnerLinks owner(far, group_handle, outbox_, Log(LogLevel::error, 3));
  owner.open(spec_, std::nullopt);
  ASSERT_TRUE(owner.join_all().ok());
  EXPECT_TRUE(outbox_.take().empty());
  EXPECT_TRUE(owner.joined_all());
}

TEST_F(OwnerLinksTest, NoMorePushesWaitThanThereAreCredits) {
  EXPECT_FALSE(links_.may_push(far));
  let_in(7, 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(links_.may_push(far));
    push(1);
  }
  EXPECT_FALSE(links_.may_push(far));
  for (const auto& one : sent(MessageType::push)) EXPECT_EQ(one.header.handle, 7u);
  links_.answered(far, 2);  // of another call
  EXPECT_FALSE(links_.may_push(far));
  links_.answered(far, 1);
  EXPECT_TRUE(links_.may_push(far));
}

TEST_F(OwnerLinksTest, CreditsGrowAndDoNotShrink) {
  EXPECT_FALSE(credit(5)) << "it has not been let in";
  let_in(7, 2);
  EXPECT_TRUE(credit(4));
  EXPECT_TRUE(credit(3));  // an older message that was overtaken
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(links_.may_push(far));
    push(1);
  }
  EXPECT_FALSE(links_.may_push(far));
  EXPECT_FALSE(credit(std::uint64_t{1} << 32));
}

TEST_F(OwnerLinksTest, PushesOfACancelledCallCountUntilTheOwnerSaysTheyAreGone) {
  let_in(7, 2);
  push(1);
  push(1);
  links_.cancel(1, failure_, false);
  const auto cancels = sent(MessageType::cancel);
  ASSERT_EQ(cancels.size(), 1u);
  EXPECT_EQ(cancels[0].header.sequence, 1u);
  EXPECT_EQ(cancels[0].header.handle, 7u);
  EXPECT_EQ(wire::decode_abort(cancels[0].payload).text(), failure_.text());
  EXPECT_FALSE(links_.may_push(far));
  EXPECT_TRUE(cancelled(1));
  EXPECT_TRUE(links_.may_push(far));
}

TEST_F(OwnerLinksTest, AnOwnerIsToldOnceOfACancelledCallUnlessAllAreTold) {
  let_in(7, 2);
  push(1);
  links_.cancel(1, failure_, false);
  links_.cancel(1, failure_, false);
  EXPECT_EQ(sent(MessageType::cancel).size(), 1u);
  links_.cancel(1, failure_, true);
  EXPECT_EQ(sent(MessageType::cancel).size(), 1u);
}

TEST_F(OwnerLinksTest, AnOwnerThatExpectsNothingOfTheCallIsNotTold) {
  let_in(7, 2, 1);
  push(1);
  links_.cancel(2, failure_, false);
  EXPECT_TRUE(sent(MessageType::cancel).empty());
  links_.cancel(2, failure_, true);
  EXPECT_EQ(sent(MessageType::cancel).size(), 1u);
}

TEST_F(OwnerLinksTest, AnOwnerThatLetsItInForACallThatHasFailedIsTold) {
  ASSERT_TRUE(links_.join(far, 3).ok());
  links_.cancel(3, failure_, true);
  EXPECT_TRUE(sent(MessageType::cancel).empty());
  ASSERT_TRUE(reply(7, 2));
  const auto cancels = sent(MessageType::cancel);
  ASSERT_EQ(cancels.size(), 1u);
  EXPECT_EQ(cancels[0].header.sequence, 3u);
}

TEST_F(OwnerLinksTest, ARevokedLeaveMakesPushesUndoneAndIsAskedForAgain) {
  let_in(7, 2);
  push(1);
  push(1);
  EXPECT_TRUE(revoke(7));
  EXPECT_FALSE(links_.may_push(far));
  let_in(8, 2);
  push(1);
  EXPECT_TRUE(links_.may_push(far)) << "the two pushes of before are gone";
  EXPECT_EQ(sent(MessageType::push).back().header.handle, 8u);
}

TEST_F(OwnerLinksTest, ARevocationOfAnOlderLeaveIsNoRevocation) {
  let_in(7, 2);
  EXPECT_TRUE(revoke(7));
  let_in(8, 2);
  EXPECT_FALSE(revoke(7));
  EXPECT_TRUE(links_.may_push(far));
}

TEST_F(OwnerLinksTest, ARevocationMayOvertakeTheLeaveThatItTakes) {
  ASSERT_TRUE(links_.join(far, 1).ok());
  EXPECT_FALSE(revoke(7));
  ASSERT_TRUE(reply(7, 2));
  EXPECT_FALSE(links_.may_push(far));
  let_in(8, 2);
  EXPECT_TRUE(links_.may_push(far));
}

TEST_F(OwnerLinksTest, ARefusalNamesTheOwnerAndLeavesNothingToWaitFor) {
  ASSERT_TRUE(links_.join(far, 1).ok());
  static_cast<void>(outbox_.take());
  ASSERT_TRUE(reply(0, 0, "no place"));
  EXPECT_EQ(refusal_.who(), Rank{far});
  EXPECT_EQ(refusal_.text(), "no place");
  EXPECT_FALSE(links_.may_push(far));
  EXPECT_TRUE(awaited().empty());
  links_.close();
  EXPECT_TRUE(outbox_.take().empty());
  EXPECT_TRUE(links_.closed(false));
}

TEST_F(OwnerLinksTest, TakesLeaveOfThoseWhoLetItInAndWaitsForTheirAnswer) {
  let_in(7, 2);
  links_.close();
  links_.close();
  const auto leaves = sent(MessageType::leave);
  ASSERT_EQ(leaves.size(), 1u);
  EXPECT_EQ(leaves[0].to, Rank{far});
  EXPECT_EQ(leaves[0].header.handle, 7u);
  EXPECT_FALSE(links_.closed(false));
  EXPECT_TRUE(links_.closed(true)) << "in a group that has failed nobody may answer";
  EXPECT_EQ(awaited(), std::vector<Rank>{far});
  EXPECT_EQ(links_.on_leave_reply(from_owner(MessageType::leave_reply)), Rejection::none);
  EXPECT_TRUE(links_.closed(false));
  EXPECT_EQ(links_.on_leave_reply(from_owner(MessageType::leave_reply)), Rejection::late);
}

TEST_F(OwnerLinksTest, TakesLeaveThoughItsLeaveToPushWasRevoked) {
  let_in(7, 2);
  EXPECT_TRUE(revoke(7));
  links_.close();
  EXPECT_EQ(sent(MessageType::leave).size(), 1u);
}

TEST_F(OwnerLinksTest, AnOwnerThatHasNotAnsweredIsGivenTheDescriptionAtTheEnd) {
  ASSERT_TRUE(links_.join(far, 1).ok());
  static_cast<void>(outbox_.take());
  links_.close();
  const auto joins = sent(MessageType::join);
  ASSERT_EQ(joins.size(), 1u);
  wire::Join join;
  ASSERT_TRUE(wire::decode(joins[0].payload, &join));
  EXPECT_EQ(join.spec, wire::encode(spec_));
  EXPECT_FALSE(links_.closed(true));
  // The answers to the second and the first, in this order.
  ASSERT_TRUE(reply(0, 0));
  EXPECT_TRUE(sent(MessageType::leave).empty());
  ASSERT_TRUE(reply(7, 2));
  EXPECT_EQ(sent(MessageType::leave).size(), 1u);
  EXPECT_EQ(links_.on_leave_reply(from_owner(MessageType::leave_reply)), Rejection::none);
  EXPECT_TRUE(links_.closed(false));
}

TEST_F(OwnerLinksTest, NothingIsWaitedForFromARankThatIsLost) {
  ASSERT_TRUE(links_.join(far, 1).ok());
  links_.lose(Rank{far});
  EXPECT_TRUE(awaited().empty());
  EXPECT_FALSE(reply(7, 2));
  links_.close();
  EXPECT_TRUE(links_.closed(false));
}

TEST_F(OwnerLinksTest, ACallWaitsForOwnersWithItsPushesAndForThoseThatHaveNotLetItIn) {
  let_in(7, 2);
  push(4);
  ASSERT_TRUE(links_.join(2, 4).ok());
  std::vector<Rank> ranks;
  links_.add_awaited(4, &ranks);
  EXPECT_EQ(ranks, (std::vector<Rank>{2, 3}));
  links_.answered(far, 4);
  ranks.clear();
  links_.add_awaited(4, &ranks);
  EXPECT_EQ(ranks, std::vector<Rank>{2});
}

TEST_F(OwnerLinksTest, MessagesOfNoOwnerDoNotFit) {
  const std::vector<std::byte> yes = wire::encode(wire::JoinReply{7, 2, 1, {}});
  bool revoked = false;
  for (std::uint32_t nobody : {1u, 4u, UINT32_MAX}) {  // itself, and none
    EXPECT_EQ(links_.on_join_reply(from_owner(MessageType::join_reply, nobody), yes, &refusal_),
              Rejection::unknown_rank);
    EXPECT_EQ(links_.on_leave_reply(from_owner(MessageType::leave_reply, nobody)), Rejection::unknown_rank);
    EXPECT_EQ(links_.on_credit(from_owner(MessageType::credit, nobody)), Rejection::unknown_rank);
    EXPECT_EQ(links_.on_cancel_reply(from_owner(MessageType::cancel_reply, nobody)), Rejection::unknown_rank);
    EXPECT_EQ(links_.on_revoke(from_owner(MessageType::revoke, nobody), &revoked), Rejection::unknown_rank);
  }
  EXPECT_FALSE(reply(7, 2)) << "it has not asked";
  ASSERT_TRUE(links_.join(far, 1).ok());
  EXPECT_EQ(links_.on_join_reply(from_owner(MessageType::join_reply), ConstBytes(yes).first(3), &refusal_),
            Rejection::malformed);
  EXPECT_FALSE(links_.may_push(far));
}

}  // namespace
}  // namespace hps::test
