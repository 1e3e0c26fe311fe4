// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/service_script.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

#include "fuzz/bad_messages.h"
#include "fuzz/byte_source.h"
#include "fuzz/heap_meter.h"
#include "fuzz/script_outbox.h"
#include "fuzz/scripted_group.h"
#include "summation/service.h"
#include "wire/abort.h"

namespace hps::fuzz {
namespace {

constexpr std::uint32_t places = 4;
constexpr std::uint64_t most_events = 2000;
constexpr std::uint64_t budgets[] = {600, 3000, 20'000, 200'000, 1'000'000};

// What a service may hold beyond what it has reserved: for itself, a group, an event (a call that a far sequence number
// has made, a JOIN that waits) and a byte of a JOIN.
constexpr std::int64_t bytes_at_all = 16 << 10;
constexpr std::int64_t bytes_a_group = 24 << 10;
constexpr std::int64_t bytes_an_event = 600;
constexpr std::int64_t bytes_a_join_byte = 32;
// Why the script cancels calls.
const Status cancelled_by_script(Code::mismatch, "cancelled by the script", 0);

constexpr std::int64_t bytes_a_sequence = std::int64_t{ChunkSequence::max_period} * 4;

class Runner final : private MessageSink {
 public:
  explicit Runner(ConstBytes script) : in_(script), outbox_(*this) {
    options_.self = self;
    const std::uint32_t choice = in_.byte();
    options_.memory_bytes = budgets[choice % std::size(budgets)];
    options_.threads = choice < 128 ? 1 : 2;
    options_.log = Log(LogLevel::error, self);
    for (std::uint32_t place = 0; place < places; ++place)
      groups_[place] = std::make_unique<ScriptedGroup>(place, in_.byte() % group_shapes, 0);
    service_ = std::make_unique<Service>(options_, outbox_);
  }

  ScriptReport run() {
    while (!in_.empty() && report_.events < most_events && report_.wrong.empty()) {
      ++report_.events;
      event(static_cast<Event>(in_.below(events)));
      tell_what_follows();
      check();
    }
    const std::uint64_t results = report_.results;
    if (report_.wrong.empty()) finish_calls();
    if (report_.wrong.empty()) end_honestly();
    if (report_.wrong.empty()) lose_everybody();
    finish_sends();
    report_.results = results;
    report_.rejected = service_->counters().rejected();
    report_.revoked = service_->counters().revoked;
    service_.reset();
    return std::move(report_);
  }

 private:
  void wrong(const std::string& what) {
    if (report_.wrong.empty()) report_.wrong = "event " + std::to_string(report_.events) + ": " + what;
  }

  // Everything that the service is told goes through here: what the heap has grown by meanwhile is what it holds.
  template <class What>
  void tell(const What& what) {
    const std::int64_t before = heap_bytes();
    what(*service_);
    held_ += heap_bytes() - before;
  }

  void check() {
    const std::uint64_t reserved = service_->reserved_bytes();
    if (reserved > options_.memory_bytes) wrong(std::to_string(reserved) + " bytes are reserved, beyond the budget");
    const std::int64_t most = static_cast<std::int64_t>(reserved) + bytes_at_all + allowance_ +
                              static_cast<std::int64_t>(service_->groups()) * bytes_a_group +
                              static_cast<std::int64_t>(report_.events) * bytes_an_event;
    if (held_ > most)
      wrong(std::to_string(held_) + " bytes are held with " + std::to_string(reserved) + " reserved; " +
            std::to_string(most) + " would be plenty");
    if (options_.threads == 1) check_sums();
  }
  void check_sums() {
    for (const auto& group : groups_) {
      if (std::string missing = group->missing(); !missing.empty()) wrong(missing);
      if (!group->local_error().empty()) wrong(group->local_error());
      if (group->attached && !group->tainted && service_->is_deserted(group->spec.id) != group->is_deserted())
        wrong("the service does not know which members have left");
    }
  }

  // --- What the service sends

  ScriptedGroup* group_replied_to(std::uint32_t reply_handle, std::uint32_t* member) {
    for (const auto& group : groups_) {
      if (const auto found = group->member_replied_to(reply_handle)) {
        *member = *found;
        return group.get();
      }
    }
    return nullptr;
  }

  void on_sent_message(Rank to, const wire::Header& header, ConstBytes payload) override {
    if (to == self) wrong("a message to this process itself");
    std::uint32_t m = 0;
    ScriptedGroup* group = group_replied_to(header.handle, &m);
    if (group == nullptr) return;
    // Whose description came first says who its members are.
    if (group->spec.members[m] != to && !group->tainted) return wrong("an answer went to another rank");
    ScriptedMember& member = group->members[m];
    if (header.type == wire::MessageType::join_reply) return on_reply(*group, member, payload);
    if (header.type == wire::MessageType::credit) member.credits = static_cast<std::uint32_t>(header.signature.count);
    if (header.type == wire::MessageType::cancel_reply) on_cancel_reply(*group, member, header.sequence);
    if (header.type == wire::MessageType::revoke) on_revoke(*group, m, header.signature.count);
    if (group->tainted || header.sequence != group->sequence) return;
    if (header.type == wire::MessageType::result) on_result(*group, member, header, payload);
    if (header.type == wire::MessageType::abort) on_abort(*group, member, payload);
  }

  // Nothing of the call takes memory here, so that the member's credits for it are free.
  void on_cancel_reply(ScriptedGroup& group, ScriptedMember& member, std::uint32_t sequence) {
    member.pushes.erase(sequence);
    if (group.unsettled != 0) --group.unsettled;
    if (outbox_.sending(group.reply_handle(0), group.members.size()))
      wrong("a call is said to be gone while results of its group are being sent");
  }

  void on_revoke(ScriptedGroup& group, std::uint32_t m, std::uint64_t handle) {
    const ScriptedMember& member = group.members[m];
    if (!group.tainted && (member.state != MemberState::joined || member.handle != handle))
      wrong("leave to push was revoked that had not been given");
    group.revoke(m);
  }

  // Whoever is told so cancels the call where it has pushed, once it starts the next.
  void on_abort(ScriptedGroup& group, ScriptedMember& member, ConstBytes payload) {
    if (!group.spoiled && !group.failed)
      wrong("a call on which all agree was aborted: " + wire::decode_abort(payload).to_string());
    member.told_of_failure = group.sequence;
  }

  void on_reply(ScriptedGroup& group, ScriptedMember& member, ConstBytes payload) {
    wire::JoinReply reply;
    if (!wire::decode(payload, &reply)) return wrong("a reply that cannot be read");
    if (reply.handle == 0 && reply.error.empty()) return;  // to a JOIN that came once more
    if (member.asks == 0) {
      // A stranger that joined in its name, and was revoked, makes an answer of what it had been told already.
      if (!group.tainted) wrong("a reply to a JOIN that nobody sent");
      return;
    }
    --member.asks;
    if (reply.error.empty()) {
      member.asks = 0;  // others of this member are answered so
      member.handle = reply.handle;
      member.credits = reply.credits;
      if (reply.credits == 0) wrong("a member was accepted without credits");
      if (member.state == MemberState::asked) member.state = MemberState::joined;
    } else {
      group.refused = true;
      if (member.state == MemberState::asked && member.asks == 0) member.state = MemberState::absent;
    }
  }

  void on_result(ScriptedGroup& group, ScriptedMember& member, const wire::Header& header, ConstBytes payload) {
    if (header.signature != group.signature) {
      if (!group.spoiled) wrong("a result of another signature");
      return;
    }
    if (header.chunk >= group.chunking.chunks) return wrong("a result of a chunk that there is not");
    if (member.results[header.chunk]) return wrong("a result came twice");
    if (std::string why = group.check_result(header.chunk, payload); !why.empty()) return wrong(why);
    member.results.set(header.chunk);
    ++report_.results;
  }

  void on_completed(const wire::Header& header) override {
    std::uint32_t m = 0;
    ScriptedGroup* group = group_replied_to(header.handle, &m);
    if (group != nullptr) group->members[m].push_answered(header.sequence);
  }

  void on_refused(Rank to) override { lost_ |= 1u << (static_cast<unsigned>(to) % 32); }

  // What peers do at once when they hear what has been sent.
  void tell_what_follows() {
    tell_of_lost_ranks();
    for (const auto& group : groups_) {
      for (std::uint32_t m = 0; m < group->members.size(); ++m) {
        ScriptedMember& member = group->members[m];
        if (member.state != MemberState::joined || member.owes_cancel == 0) continue;
        send_cancel(*group, m, std::exchange(member.owes_cancel, 0), cancelled_by_script);
      }
    }
  }

  void tell_of_lost_ranks() {
    for (Rank rank = 0; rank < 32; ++rank) {
      if ((std::exchange(lost_, lost_ & ~(1u << static_cast<unsigned>(rank))) >> static_cast<unsigned>(rank) & 1) != 0)
        lose(rank);
    }
  }

  void finish_sends() {
    outbox_.mode = SendMode::at_once;
    while (outbox_.sending()) tell([&](Service&) { outbox_.complete(0, {}); });
  }

  // --- Events

  ScriptedGroup& take_group() { return *groups_[in_.below(places)]; }
  std::uint32_t take_member(const ScriptedGroup& group) {
    return in_.below(static_cast<std::uint32_t>(group.members.size()));
  }

  void event(Event what) {
    switch (what) {
      case Event::collect:
        return tell([](Service& service) { service.collect(); });
      case Event::sum_ready:
        return sum_ready();
      case Event::send_mode:
        outbox_.mode = static_cast<SendMode>(in_.below(send_modes));
        return;
      case Event::complete:
        return complete();
      case Event::peer_failed:
        return lose(static_cast<Rank>(in_.below(10)));
      case Event::bad_leave:
        return bad_leave();
      case Event::raw:
        return raw();
      default:
        return group_event(what, take_group());
    }
  }

  void group_event(Event what, ScriptedGroup& group) {
    switch (what) {
      case Event::post:
        return post(group);
      case Event::next_call:
        return next_call(group);
      case Event::whole_call:
        return whole_call(group);
      case Event::attach:
        return attach(group);
      case Event::detach:
        return detach(group);
      case Event::cancel_here:
        return cancel_here(group);
      case Event::withdraw:
        return withdraw(group);
      case Event::new_group:
        return new_group(group);
      case Event::join_all:
        return join_all(group);
      default:
        return member_event(what, group, take_member(group));
    }
  }

  void member_event(Event what, ScriptedGroup& group, std::uint32_t member) {
    switch (what) {
      case Event::join:
        return join(group, member, in_.byte() % 2 != 0);
      case Event::push:
        return push(group, member, 0);
      case Event::push_any:
        group.out_of_order = true;
        return push(group, member, in_.byte());
      case Event::leave:
        return leave(group, member);
      case Event::cancel_by_member:
        return cancel_by_member(group, member, cancelled_by_script);
      case Event::report_lost:
        return report_lost(group, member, take_member(group));
      case Event::bad_push:
        return bad_push(group, member);
      case Event::bad_join:
        return bad_join(group, member);
      default:
        return bad_cancel(group, member);
    }
  }

  // --- What honest peers and this process do

  void send_join(const wire::Join& join, std::uint32_t owner, std::uint32_t sequence) {
    wire::Header header;
    header.type = wire::MessageType::join;
    header.chunk = owner;
    header.sequence = sequence;
    const std::vector<std::byte> payload = wire::encode(join);
    allowance_ += static_cast<std::int64_t>(payload.size()) * bytes_a_join_byte;
    tell([&](Service& service) { service.on_join(header, payload); });
  }

  void join(ScriptedGroup& group, std::uint32_t m, bool with_spec) {
    ScriptedMember& member = group.members[m];
    if (group.is_over() || !group.is_remote(m) || member.state != MemberState::absent) return;
    member.state = MemberState::asked;
    ask(group, m, with_spec);
  }
  void ask(ScriptedGroup& group, std::uint32_t m, bool with_spec) {
    ++group.members[m].asks;
    group.members[m].wanted = group.has_chunks() ? group.sequence : 0;
    send_join(group.join(m, with_spec), 0, group.members[m].wanted);
  }

  void join_all(ScriptedGroup& group) {
    for (std::uint32_t m = 0; m < group.members.size(); ++m) join(group, m, true);
  }

  // The `skip`th of the chunks that are this process's and that the member has not pushed.
  void push(ScriptedGroup& group, std::uint32_t m, std::uint32_t skip) {
    std::vector<std::uint64_t> chunks;
    for (std::uint64_t chunk = 0; chunk < group.chunking.chunks; ++chunk) {
      if (group.owns(chunk) && !group.members[m].pushed[chunk]) chunks.push_back(chunk);
    }
    if (!chunks.empty()) push_chunk(group, m, chunks[skip % chunks.size()]);
  }

  static bool knows_of_failure(const ScriptedGroup& group, const ScriptedMember& member) {
    return member.cancelled == group.sequence || member.told_of_failure == group.sequence;
  }
  static bool may_push(const ScriptedGroup& group, const ScriptedMember& member) {
    return member.state == MemberState::joined && !knows_of_failure(group, member) && member.waiting() < member.credits;
  }

  void push_chunk(ScriptedGroup& group, std::uint32_t m, std::uint64_t chunk) {
    ScriptedMember& member = group.members[m];
    if (!may_push(group, member) || member.pushed[chunk]) return;
    member.pushed.set(chunk);
    ++member.pushes[group.sequence];
    send_push(group.push_header(m, chunk), group.payload(m, chunk));
  }

  // Where the network leaves a payload it has no alignment.
  void send_push(const wire::Header& header, std::vector<std::byte> payload) {
    payload.insert(payload.begin(), std::byte{0});
    tell([&](Service& service) { service.on_push(header, ConstBytes(payload).subspan(1)); });
  }

  void post(ScriptedGroup& group) {
    if (!group.attached || group.posted || group.contributed) return;
    group.posted = group.contributed = true;
    std::uint64_t chunks_left = 0;
    Status status;
    tell([&](Service& service) { status = service.post(group.spec.id, group, &chunks_left); });
    if (status.ok()) return;
    if (!group.spoiled && !group.failed && !group.tainted) wrong("a post was refused: " + status.to_string());
    group.posted = false;
    group.spoiled = true;
  }

  void whole_call(ScriptedGroup& group) {
    post(group);
    for (std::uint64_t chunk = 0; chunk < group.chunking.chunks; ++chunk) {
      if (!group.owns(chunk)) continue;
      for (std::uint32_t m = 0; m < group.members.size(); ++m) push_chunk(group, m, chunk);
    }
  }

  // A member starts a call only when the one before has ended, well or not; then all owners have been told.
  void next_call(ScriptedGroup& group) {
    const std::uint32_t choice = in_.byte();
    begin_next_call(group, choice);
  }
  void begin_next_call(ScriptedGroup& group, std::uint32_t choice) {
    cancel_here(group);
    if (!ended(group)) cancel_by_all(group);
    group.begin_call(choice);
  }
  // The first to know tells all owners; the others tell those that hold, or expect, pushes of theirs.
  void cancel_by_all(ScriptedGroup& group) {
    bool is_first = true;
    for (std::uint32_t m = 0; m < group.members.size(); ++m) {
      ScriptedMember& member = group.members[m];
      if (member.state == MemberState::asked) member.owes_cancel = member.wanted;
      if (member.state != MemberState::joined) continue;
      if (is_first || member.wanted == group.sequence || member.pushes.contains(group.sequence))
        cancel_by_member(group, m, cancelled_by_script);
      is_first = false;
    }
    if (is_first && group.revoked) stale_calls_ = true;
  }
  // Nobody knows that a call has ended before its chunks are summed.
  bool ended(const ScriptedGroup& group) {
    sum_ready();
    return !group.spoiled && group.all_complete();
  }

  void cancel_here(ScriptedGroup& group) {
    if (!group.posted) return;
    if (ended(group)) {
      group.posted = false;
      return;
    }
    withdraw(group);
    group.spoiled = true;
    tell([&](Service& service) { service.cancel(group.spec.id, group.sequence, cancelled_by_script); });
  }

  void withdraw(ScriptedGroup& group) {
    if (!group.posted) return;
    tell([&](Service& service) { service.withdraw(group.spec.id, group); });
    group.posted = group.contributed = false;
    group.spoiled = true;
  }

  // A member cancels a call once.
  void cancel_by_member(ScriptedGroup& group, std::uint32_t m, const Status& why) {
    ScriptedMember& member = group.members[m];
    if (member.state != MemberState::joined || member.cancelled == group.sequence) return;
    group.spoiled = true;
    member.cancelled = group.sequence;
    send_cancel(group, m, group.sequence, why);
  }
  void send_cancel(ScriptedGroup& group, std::uint32_t m, std::uint32_t sequence, const Status& why) {
    wire::Header header = group.push_header(m, 0);
    header.type = wire::MessageType::cancel;
    header.sequence = sequence;
    const std::vector<std::byte> payload = wire::encode_abort(why);
    if (++group.unsettled > 256 * group.members.size()) group.credits_are_lost = true;
    tell([&](Service& service) { service.on_cancel(header, payload); });
  }

  // The member has lost another, which this process has not: in this group it is lost for all.
  void report_lost(ScriptedGroup& group, std::uint32_t m, std::uint32_t lost) {
    ScriptedMember& member = group.members[m];
    if (lost == m || member.state != MemberState::joined || member.cancelled == group.sequence) return;
    group.failed = true;
    if (group.is_remote(lost)) group.part(lost);
    const Rank rank = group.spec.members[lost];
    cancel_by_member(group, m, {Code::peer_failed, "lost by a member of the script", rank});
  }

  void leave(ScriptedGroup& group, std::uint32_t m) {
    if (!group.members[m].is_present()) return;
    wire::Header header;
    header.type = wire::MessageType::leave;
    header.handle = group.members[m].handle;
    group.members[m].asks = 0;  // with its leave they are dropped
    group.part(m);
    tell([&](Service& service) { service.on_leave(header); });
  }

  void attach(ScriptedGroup& group) {
    if (group.attached || group.detached || group.is_over()) return;
    group.attached = true;
    Status status;
    tell([&](Service& service) { status = service.attach(group.spec); });
    if (!status.ok() && !group.tainted) wrong("a group cannot be attached: " + status.to_string());
    if (!status.ok()) detach(group);
  }

  void detach(ScriptedGroup& group) {
    if (!group.attached) return;
    cancel_here(group);
    group.attached = false;
    group.detached = true;
    tell([&](Service& service) { service.detach(group.spec.id); });
  }

  static bool is_known(const ScriptedGroup& group) {
    return !group.is_over() && (group.attached || group.present() != 0);
  }

  // Its groups fail, those of which the service hears later too.
  void lose(Rank rank) {
    if (rank == self) return;
    lost_for_good_.insert(rank);
    for (const auto& group : groups_) fail_if_lost(*group);
    tell([&](Service& service) { service.on_peer_failed(rank, {Code::peer_failed, "lost by the script", rank}); });
  }

  void fail_if_lost(ScriptedGroup& group) {
    for (std::uint32_t m = 0; m < group.members.size(); ++m) {
      if (!lost_for_good_.contains(group.spec.members[m])) continue;
      group.failed = true;
      // Its JOIN may wait for a description that never comes, and names no rank.
      if (group.members[m].state == MemberState::asked) orphans_.insert(group.spec.id);
      group.part(m);
    }
  }

  void new_group(ScriptedGroup& old) {
    const std::uint32_t shape = in_.byte() % group_shapes;
    const bool untouched = old.count(MemberState::absent) == old.members.size() && old.present() == 0;
    if (!(old.is_over() || (untouched && !old.attached && !old.detached))) return;
    if (old.count(MemberState::asked) != 0) return;
    for (auto& group : groups_) {
      if (group.get() != &old) continue;
      group =
          std::make_unique<ScriptedGroup>(static_cast<std::uint32_t>(&group - groups_.data()), shape, ++generation_);
      return fail_if_lost(*group);
    }
  }

  void sum_ready() {
    tell([](Service& service) { service.sum_ready(); });
    check_sums();
  }

  void complete() {
    const std::uint32_t which = in_.byte();
    const Status status = in_.byte() % 4 == 0 ? Status(Code::transport, "lost by the script") : Status();
    tell([&](Service&) { outbox_.complete(which, status); });
  }

  // --- What nobody honest does

  void taint(ScriptedGroup& group) {
    group.tainted = true;
    strays_.insert(group.spec.id);
  }

  void apply(ScriptedGroup& group, ScriptedMember& member, Effect effect) {
    if (effect == Effect::none && !group.tainted) return;
    // One that comes after the member's own cancel is given back by nothing.
    if (effect == Effect::spoils && !knows_of_failure(group, member)) {
      group.spoiled = true;
      ++member.pushes[group.sequence];
    } else {
      ++member.stuck;
      strays_.insert(group.spec.id);
    }
    if (effect == Effect::taints) taint(group);
  }

  void bad_push(ScriptedGroup& group, std::uint32_t m) {
    const auto how = static_cast<BadPush>(in_.below(bad_pushes));
    const auto number = in_.take<std::uint32_t>();
    std::optional<BadMessage> message = fuzz::bad_push(group, m, how, number);
    if (!message) return;
    if (how == BadPush::handle && holder(number) != nullptr) return;  // Event::raw does this
    apply(group, group.members[m], message->effect);
    send_push(message->header, std::move(message->payload));
  }

  void bad_join(ScriptedGroup& group, std::uint32_t m) {
    const auto how = static_cast<BadJoin>(in_.below(bad_joins));
    const auto number = in_.take<std::uint32_t>();
    if (how == BadJoin::flood) return flood(group);
    strange_join(fuzz::bad_join(group, m, how, number), number % 8, number >> 3);
  }

  // Whether the service may take it for an honest member's that has not joined.
  static bool may_stand_for_member(const wire::Join& join, const ScriptedGroup& group) {
    return join.spec_hash == wire::hash(group.encoded) && join.member < group.members.size() &&
           group.is_remote(join.member) && group.members[join.member].state != MemberState::joined;
  }

  // The service may make a group of it, or a member of one.
  void strange_join(const wire::Join& join, std::uint32_t owner, std::uint32_t sequence) {
    ScriptedGroup* named = nullptr;
    for (const auto& group : groups_) {
      if (group->spec.id == join.id) named = group.get();
    }
    const bool known = named != nullptr && is_known(*named);
    wire::GroupSpec described;
    const bool describes = wire::decode(join.spec, &described).ok();
    if (describes) allowance_ += bytes_a_sequence;
    mentioned_.insert(described.members.begin(), described.members.end());
    const bool for_nobody =
        describes && join.member >= described.members.size() && named == nullptr && !strays_.contains(join.id);
    if (named == nullptr)
      strays_.insert(join.id);
    else if (!known || may_stand_for_member(join, *named))
      taint(*named);
    const std::uint64_t reserved = service_->reserved_bytes();
    send_join(join, owner, sequence);
    if (for_nobody && service_->reserved_bytes() > reserved)
      wrong("a JOIN of a member that there is not has reserved memory");
  }
  void flood(const ScriptedGroup& group) {
    constexpr std::uint32_t joins = 1500;
    constexpr std::size_t most_groups = 1u << 16;
    for (std::uint32_t i = 0; i < joins; ++i) {
      const wire::Join join = fuzz::bad_join(group, 0, BadJoin::flood, flooded_++);
      strays_.insert(join.id);
      send_join(join, 0, i);
    }
    if (service_->undescribed_groups() > most_groups)
      wrong(std::to_string(service_->undescribed_groups()) + " groups of which nothing is known");
  }

  // The group whose member has this handle at the service.
  ScriptedGroup* holder(std::uint32_t handle, std::uint32_t* member = nullptr) {
    for (const auto& group : groups_) {
      const auto found = group->member_with_handle(handle);
      if (!found) continue;
      if (member != nullptr) *member = *found;
      return group.get();
    }
    return nullptr;
  }

  void bad_leave() {
    wire::Header header;
    header.type = wire::MessageType::leave;
    header.handle = in_.take<std::uint32_t>();
    if (holder(header.handle) != nullptr) return;  // Event::raw does this
    tell([&](Service& service) { service.on_leave(header); });
  }

  void bad_cancel(ScriptedGroup& group, std::uint32_t m) {
    wire::Header header = group.push_header(m, 0);
    header.type = wire::MessageType::cancel;
    header.sequence = in_.take<std::uint32_t>();
    const ConstBytes payload = in_.take_up_to(in_.byte());
    if (holder(header.handle) == nullptr) header.handle = 0;
    if (header.handle != 0) taint(group);
    tell([&](Service& service) { service.on_cancel(header, payload); });
  }

  void raw() {
    wire::Header header;
    const ConstBytes bytes = in_.take_up_to(wire::header_bytes);
    const ConstBytes payload = in_.take_up_to(4u * in_.byte());
    if (!wire::decode(bytes, &header)) return;
    if (header.type == wire::MessageType::join) return raw_join(header, payload);
    std::uint32_t m = 0;
    if (ScriptedGroup* group = holder(header.handle, &m)) {
      if (header.type == wire::MessageType::leave) return leave(*group, m);
      apply(*group, group->members[m], Effect::taints);
    }
    if (header.type == wire::MessageType::push) send_push(header, {payload.begin(), payload.end()});
    if (header.type == wire::MessageType::leave) tell([&](Service& service) { service.on_leave(header); });
    if (header.type == wire::MessageType::cancel) tell([&](Service& service) { service.on_cancel(header, payload); });
  }

  void raw_join(const wire::Header& header, ConstBytes payload) {
    wire::Join join;
    if (!wire::decode(payload, &join)) return tell([&](Service& service) { service.on_join(header, payload); });
    join.reply_handle |= bad_reply_handle;
    strange_join(join, header.chunk, header.sequence);
  }

  // --- The end

  // Without strangers whatever can go on does: those with a member that is gone make room, the others end a call each.
  void finish_calls() {
    constexpr std::uint32_t rounds = 400;
    if (!strays_.empty() || stale_calls_) return;
    finish_sends();
    for (const auto& group : groups_) {
      if (cannot_go_on(*group))
        detach_and_leave(*group);
      else if (group->spoiled || group->out_of_order)
        begin_next_call(*group, group->sequence);
    }
    // One round at least: members are told only then that nothing of a call they have cancelled is left.
    std::uint32_t round = 0;
    do {
      for (const auto& group : groups_) go_on(*group);
      sum_ready();
      tell([](Service& service) { service.collect(); });
      tell_what_follows();
    } while (++round < rounds && !all_ended());
    for (const auto& group : groups_) check_end(*group);
  }
  static bool cannot_go_on(const ScriptedGroup& group) {
    return group.failed || group.refused || group.credits_are_lost || group.detached ||
           group.count(MemberState::left) != 0;
  }
  bool all_ended() {
    return std::all_of(groups_.begin(), groups_.end(),
                       [&](const auto& group) { return cannot_go_on(*group) || ended(*group); });
  }
  void detach_and_leave(ScriptedGroup& group) {
    detach(group);
    take_leave(group);
  }
  // As its members would: all ask, the first one once more where the description has not come.
  void go_on(ScriptedGroup& group) {
    if (cannot_go_on(group)) return detach_and_leave(group);
    if (ended(group)) return;
    attach(group);
    for (std::uint32_t m = 0; m < group.members.size(); ++m) {
      if (group.members[m].state == MemberState::asked && group.members[m].asks < 2) ask(group, m, true);
      join(group, m, true);
    }
    whole_call(group);
  }
  void check_end(const ScriptedGroup& group) {
    if (cannot_go_on(group) || group.tainted) return;
    const std::string name = "call " + std::to_string(group.sequence) + " of " + std::to_string(group.spec.id.counter);
    if (!ended(group)) return wrong(name + " does not end");
    for (const ScriptedMember& member : group.members) {
      if (member.state == MemberState::joined && member.waiting() != 0) wrong("credits are lost by the end of " + name);
    }
  }

  // What is left when every honest member has taken leave, as it would: those without an answer ask once more, with the
  // description.
  void end_honestly() {
    finish_sends();
    sum_ready();
    for (const auto& group : groups_) detach(*group);
    for (std::uint32_t round = 0; round < 2 * places + 2; ++round) {
      for (const auto& group : groups_) take_leave(*group);
      finish_sends();
      tell_of_lost_ranks();
      tell([](Service& service) { service.collect(); });
    }
    const std::size_t most = strays_.size() + (strays_.empty() ? 0 : waiting_groups());
    const std::size_t left = service_->groups() + service_->undescribed_groups();
    if (left > most + std::min(orphans_.size(), service_->undescribed_groups()))
      wrong(std::to_string(left) + " groups are left where at most " + std::to_string(most) + " can be");
    if (strays_.empty() && service_->reserved_bytes() != 0)
      wrong(std::to_string(service_->reserved_bytes()) + " bytes stay reserved");
  }

  // Those that still have no answer: what strangers have joined may hold the memory that they wait for.
  std::size_t waiting_groups() const {
    const auto waits = [](const auto& group) { return group->count(MemberState::asked) != 0; };
    return static_cast<std::size_t>(std::count_if(groups_.begin(), groups_.end(), waits));
  }

  void take_leave(ScriptedGroup& group) {
    for (std::uint32_t m = 0; m < group.members.size(); ++m) {
      ScriptedMember& member = group.members[m];
      if (member.state == MemberState::asked && member.asks < 2) ask(group, m, true);
      leave(group, m);
    }
  }

  // Then nothing is reserved any more, whatever has happened.
  void lose_everybody() {
    for (Rank rank = 0; rank < 10; ++rank) mentioned_.insert(rank);
    for (std::size_t round = 0; round < 4 + service_->groups(); ++round) {
      for (Rank rank : mentioned_) lose(rank);
      tell([](Service& service) { service.collect(); });
      if (service_->reserved_bytes() == 0) break;
    }
    if (service_->reserved_bytes() != 0)
      wrong(std::to_string(service_->reserved_bytes()) + " bytes stay reserved with all peers lost");
    if (service_->sending()) wrong("the service says that it sends, with nothing under way");
  }

  ByteSource in_;
  ScriptReport report_;
  ServiceOptions options_;
  std::array<std::unique_ptr<ScriptedGroup>, places> groups_;
  std::uint32_t generation_ = 0;
  std::set<wire::GroupId> strays_;  // groups that the service may know beyond the honest ones
  // Calls failed while nobody had leave to tell the service. It takes them to be under way still, and their groups to
  // be older than others that then wait for memory, perhaps for ever.
  bool stale_calls_ = false;
  std::set<wire::GroupId> orphans_;  // that may wait for their description for ever
  std::set<Rank> mentioned_;         // members of theirs
  std::uint32_t lost_ = 0;           // ranks to which a send was refused, a bit each
  std::set<Rank> lost_for_good_;     // those of which the service has been told
  std::uint32_t flooded_ = 0;        // JOINs of a flood
  std::int64_t held_ = 0;            // by the service
  std::int64_t allowance_ = 0;       // for what JOINs describe
  ScriptOutbox outbox_;
  std::unique_ptr<Service> service_;
};

}  // namespace

ScriptReport run_service_script(ConstBytes script) { return Runner(script).run(); }

}  // namespace hps::fuzz
