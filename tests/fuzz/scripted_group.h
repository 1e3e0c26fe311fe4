// SPDX-License-Identifier: BSD-3-Clause
// ScriptedGroup: one group as its honest members know it, beside a Service under test: who has joined, which pushes of
// the present call the service has got, and what it must make of them.
#ifndef HPS_TESTS_FUZZ_SCRIPTED_GROUP_H
#define HPS_TESTS_FUZZ_SCRIPTED_GROUP_H

#include <bitset>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/contribution.h"
#include "summation/local_call.h"
#include "wire/group_spec.h"
#include "wire/join.h"

namespace hps::fuzz {

inline constexpr Rank self = 9;  // the process whose service is under test
inline constexpr std::uint32_t group_shapes = 6;
inline constexpr std::size_t max_chunks = 64;
using Chunks = std::bitset<max_chunks>;

enum class MemberState : std::uint8_t { absent, asked, joined, left };

struct ScriptedMember {
  // One whose leave to push was revoked is absent again, and keeps its handle, under which it may still take leave.
  MemberState state = MemberState::absent;
  std::uint32_t asks = 0;    // JOINs without an answer
  std::uint32_t handle = 0;  // the last that the service gave it; 0 where it has not joined, or has left
  std::uint32_t credits = 0;
  std::map<std::uint32_t, std::uint32_t> pushes;  // without a result, by call
  std::uint32_t stuck = 0;                        // and such as no honest member sends, which may never have one
  std::uint32_t wanted = 0;                       // the call that its last JOIN was for; 0 where for none yet
  std::uint32_t cancelled = 0;                    // the last call that it has cancelled
  std::uint32_t told_of_failure = 0;              // the last call that it was told to have failed
  std::uint32_t owes_cancel = 0;                  // a call that failed while the JOIN for it had no answer
  Chunks pushed;                                  // of the present call
  Chunks results;

  bool is_present() const { return handle != 0; }
  // How many of its pushes may wait at the service.
  std::uint32_t waiting() const;
  void push_answered(std::uint32_t sequence);
};

class ScriptedGroup final : public LocalCall {
 public:
  // `place` names the group among the script's, `generation` sets it apart from those that were in its place before.
  ScriptedGroup(std::uint32_t place, std::uint32_t shape, std::uint32_t generation);

  wire::GroupSpec spec;
  std::vector<std::byte> encoded;
  std::vector<ScriptedMember> members;
  std::optional<std::uint32_t> local;  // this process, where it is a worker
  bool attached = false;
  bool detached = false;
  bool failed = false;        // a member is lost
  bool refused = false;       // the service does not let it in
  std::size_t unsettled = 0;  // cancels without an answer
  // A service drops cancels beyond a few for each member while results are being sent, and with them credits of honest
  // members: nothing more is expected of the group until it leaves.
  bool credits_are_lost = false;
  // Something that nobody can foresee has got through, such as a message that stole a member's handle: nothing more is
  // expected of the group but that it harms nobody else.
  bool tainted = false;

  // The present call.
  std::uint32_t sequence = 1;
  wire::Signature signature;
  Chunking chunking;
  bool spoiled = false;       // it was cancelled, or ranks disagreed: it need not complete
  bool out_of_order = false;  // its members push in no order that the least credits are enough for
  bool revoked = false;       // some leave to push was
  bool posted = false;        // the local part is with the service
  bool contributed = false;   // it has been posted at some time
  Chunks told;                // to the local part
  std::vector<std::byte> local_input;

  void begin_call(std::uint32_t choice);
  // The member's leave to push is taken away, and what it has pushed without a result is gone.
  void revoke(std::uint32_t member);
  // The member is gone for good.
  void part(std::uint32_t member);
  std::uint32_t reply_handle(std::uint32_t member) const { return base_ + member; }
  // The member that has this handle there or here.
  std::optional<std::uint32_t> member_with_handle(std::uint32_t handle) const;
  std::optional<std::uint32_t> member_replied_to(std::uint32_t reply_handle) const;
  std::uint32_t count(MemberState state) const;
  // Members that have joined and not left.
  std::uint32_t present() const;
  // All members but this process have left.
  bool is_deserted() const;
  // All that ever joined have left; nothing honest happens in this group any more.
  bool is_over() const;
  bool is_remote(std::uint32_t member) const { return member != local; }
  bool owns(std::uint64_t chunk) const { return spec.plan.owners[spec.plan.owner_of(chunk)].rank == self; }

  std::vector<std::byte> payload(std::uint32_t member, std::uint64_t chunk) const;
  wire::Header push_header(std::uint32_t member, std::uint64_t chunk) const;
  wire::Join join(std::uint32_t member, bool with_spec) const;

  // Why this result is wrong, or nothing.
  std::string check_result(std::uint64_t chunk, ConstBytes result) const;
  // What should have been summed by now and was not, or nothing.
  std::string missing() const;
  // The first thing found wrong in what the service told the local call.
  const std::string& local_error() const { return local_error_; }

  void on_chunk_summed(std::uint64_t chunk, ConstBytes result) noexcept override;
  void on_aborted(const Status& why) noexcept override;

  // Whether all contributions to the chunk are there; to all chunks of this process.
  bool complete(std::uint64_t chunk) const;
  bool all_complete() const;
  // Whether any chunk of the present call is this process's.
  bool has_chunks() const;

 private:
  std::string name_of(std::uint64_t chunk) const;
  std::uint64_t seed(std::uint32_t member) const;
  Slice slice_of(std::uint64_t chunk) const;

  std::uint32_t base_;
  std::uint64_t scale_ = 1;  // of counts
  std::string local_error_;
};

}  // namespace hps::fuzz

#endif
