// SPDX-License-Identifier: BSD-3-Clause
// Service: the Summation Service of one process. It owns chunks of any number of groups and sums them. It runs on
// worker ranks and CPU-only ranks alike, and needs to know of a group no more than its members' JOIN messages say. It
// has no thread and no clock: it acts when it is told something.
#ifndef HPS_SRC_SUMMATION_SERVICE_H
#define HPS_SRC_SUMMATION_SERVICE_H

#include <map>
#include <memory>
#include <vector>

#include "summation/served_group.h"
#include "util/handle_table.h"
#include "wire/join.h"

namespace hps {

class Service {
 public:
  // `outbox` must outlive the service.
  Service(const ServiceOptions& options, wire::Outbox& outbox);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // This process is in the group itself: its calls take part through post(), and the group stays until detach().
  Status attach(const wire::GroupSpec& spec);
  void detach(wire::GroupId id) noexcept;
  // As ServedGroup::post and withdraw; the group must be attached.
  Status post(wire::GroupId id, LocalCall& call, std::uint64_t* chunks_left);
  void withdraw(wire::GroupId id, const LocalCall& call) noexcept;
  // This process knows that a call of an attached group has failed: what is here of it is dropped.
  void cancel(wire::GroupId id, std::uint32_t sequence, const Status& why) noexcept;

  void on_join(const wire::Header& header, ConstBytes payload) noexcept;
  void on_leave(const wire::Header& header) noexcept;
  void on_push(const wire::Header& header, ConstBytes payload) noexcept;
  void on_cancel(const wire::Header& header, ConstBytes payload) noexcept;
  void on_peer_failed(Rank peer, const Status& why) noexcept;

  // Sums what is complete, where several threads do it. To be called after messages have come.
  void sum_ready() noexcept;
  // Frees what has drained and serves those who wait for the memory. To be called now and then; cheap when there is
  // nothing to do.
  void collect() noexcept;

  // Whether results are still being sent.
  bool sending() const noexcept;
  std::size_t groups() const noexcept { return groups_.size(); }
  std::uint64_t reserved_bytes() const noexcept { return budget_.reserved(); }
  const ServiceCounters& counters() const noexcept { return counters_; }
  // For whoever rejects a message before it gets here.
  void count_rejected() noexcept { ++counters_.rejected; }

 private:
  struct WaitingJoin {
    wire::Join join;
    std::uint32_t owner_index = 0;
  };
  // A group from the first that is heard of it: its spec may not be known yet, nor its memory granted.
  struct Entry {
    std::unique_ptr<ServedGroup> group;  // once the spec is known
    std::uint64_t spec_hash = 0;
    std::uint32_t credits = 0;  // 0 until the memory is granted
    bool attached = false;
    bool detached = false;
    std::vector<WaitingJoin> waiting;
    std::vector<std::uint32_t> handles;      // by member; 0 = not joined
    std::vector<std::uint32_t> owner_index;  // by member: how the member calls this owner
  };
  struct Handle {
    Entry* entry = nullptr;
    std::uint32_t member = 0;
  };

  Status set_spec(Entry& entry, wire::GroupSpec spec, std::uint64_t spec_hash);
  void set_spec_from(Entry& entry, const wire::Join& join);
  // Grants credits where memory allows, and answers those who wait.
  void admit(Entry& entry);
  std::uint32_t affordable_credits(const ServedGroup& group) const noexcept;
  void raise_credits(Entry& entry);
  void answer(Entry& entry);
  std::string join_error(const Entry& entry, const wire::Join& join) const;
  void accept(Entry& entry, const WaitingJoin& waiting);
  void refuse(Entry& entry, const WaitingJoin& waiting, const std::string& why);
  void send_join_reply(Rank to, const WaitingJoin& waiting, const wire::JoinReply& reply);
  bool is_drained(const Entry& entry) const noexcept;

  ServiceOptions options_;
  wire::Outbox& outbox_;
  MemoryBudget budget_;
  ServiceCounters counters_;
  std::map<wire::GroupId, std::unique_ptr<Entry>> groups_;
  HandleTable<Handle> handles_;
  bool memory_freed_ = false;
};

}  // namespace hps

#endif
