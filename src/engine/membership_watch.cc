// SPDX-License-Identifier: BSD-3-Clause
// What a group's member does about calls that stand still: it reports them, answers for its own when it is asked, looks
// for ranks that are lost, and as their referee ends those that do not match.
#include <algorithm>
#include <utility>

#include "engine/membership.h"
#include "util/text.h"
#include "wire/abort.h"

namespace hps {

using wire::MessageType;

GroupRemains::GroupRemains(const Membership& group)
    : handle_(group.handle_),
      self_(group.context_.self),
      member_(group.self_.value_or(group.members())),
      last_(group.closing_ ? std::optional(group.sequence_) : std::nullopt),
      referee_(group.referee_) {}

void GroupRemains::answer(Outbox& outbox, const wire::Header& message, const wire::Sender& from) const {
  const std::uint32_t sequence = message.sequence;
  const wire::Signature mine = referee_.signature_of(sequence);
  const bool is_report = message.type == MessageType::report;
  const bool differs = is_report && mine.collective != wire::Collective::none && mine != message.signature;
  wire::Header reply;
  reply.type = MessageType::abort;
  reply.handle = from.handle;
  reply.sequence = sequence;
  std::vector<std::byte> payload;
  if (last_ && static_cast<std::int32_t>(sequence - *last_) > 0) {
    payload = wire::encode_abort({Code::mismatch,
                                  "rank " + std::to_string(self_) +
                                      " has left the communicator and did not come to call " + std::to_string(sequence),
                                  self_});
    if (!is_report) reply.chunk = wire::told_to_referee;
  } else if (differs) {
    payload = wire::encode_abort(wire::mismatch(from.rank, message.signature, self_, mine, sequence));
  } else if (is_report) {
    return;  // it has been through the call, and so have all others
  } else {
    reply.type = MessageType::report;
    reply.chunk = member_;
    reply.signature = mine;
    payload = wire::encode(wire::Sender{self_, handle_});
  }
  // Whoever cannot be reached any more does not wait.
  static_cast<void>(outbox.send_copy(from.rank, reply, std::move(payload)).ok());
}

TimeNs Membership::look(TimeNs now) {
  if (!opened_) return never_ns;
  quiet_until_ = 0;
  TimeNs next = never_ns;
  for (std::size_t i = 0; i < active_.size(); ++i) next = std::min(next, watch(active_[i], now));
  const TimeNs interval_ns = context_.liveness.interval_ns();
  for (const Referee::Action& action : referee_.look(now, interval_ns)) act(action, now);
  next = std::min({next, referee_.next(), watch_links(now), watch_survey(now)});
  if (is_quiet()) quiet_until_ = next;
  return next;
}

// Nothing stands still or is waited for but by calls that moved at their last look.
bool Membership::is_quiet() const noexcept {
  return !links_pending() && referee_.next() == never_ns &&
         std::none_of(active_.begin(), active_.end(), [](const Active& active) { return active.reported; });
}

bool Membership::links_pending() const noexcept {
  return links().pending() ||
         std::any_of(past_.begin(), past_.end(), [](const auto& term) { return term->links.pending(); });
}

TimeNs Membership::watch_links(TimeNs now) {
  std::erase_if(past_, [&](const auto& term) { return has_left(*term); });
  if (!links_pending()) {
    link_looks_.stop();
    return never_ns;
  }
  const TimeNs interval_ns = context_.liveness.interval_ns();
  link_looks_.start(now, interval_ns);
  if (link_looks_.is_due(now, interval_ns)) {
    std::vector<Rank> awaited;
    links().add_awaited(&awaited);
    for (const auto& term : past_) term->links.add_awaited(&awaited);
    for (Rank rank : awaited) context_.liveness.ask(rank, now);
  }
  return interval_ns == never_ns ? never_ns : link_looks_.next_ns();
}

TimeNs Membership::watch(Active& active, TimeNs now) {
  const Operation& operation = *active.operation;
  if (operation.ended()) return never_ns;
  const WatchOptions& options = context_.watch;
  const TimeNs interval_ns = context_.liveness.interval_ns();
  const TimeNs still_ns = active.timer.still_ns(operation.moves(), now);
  if (fails_for_the_ended(operation, still_ns)) return never_ns;
  if (!active.reported) {
    if (still_ns < options.report_ns) return active.timer.since_ns() + options.report_ns;
    active.reported = true;
    const std::uint32_t sequence = operation.sequence();
    const std::uint32_t referee = referee_.of(sequence);
    if (referee != self_) {
      report(referee, sequence, operation.signature());
    } else if (const Status differs = referee_.on_report(sequence, *self_, operation.signature(), now); !differs.ok()) {
      abort(sequence, differs);
      return never_ns;
    }
  }
  if (still_ns < options.referee.inquire_ns) return active.timer.since_ns() + options.referee.inquire_ns;
  if (context_.service.is_deserted(spec().id)) {
    abort(operation.sequence(),
          {Code::mismatch,
           "rank " + std::to_string(context_.self) + ": its call " + std::to_string(operation.sequence()) +
               " is not that of the other ranks, who have left the communicator",
           context_.self});
    return never_ns;
  }
  const TimeNs request_ns = active.held ? request_plan(now) : never_ns;
  if (interval_ns == never_ns) return request_ns;
  if (active.looks.is_due(now, interval_ns)) {
    for (Rank rank : awaited(operation)) context_.liveness.ask(rank, now);
  }
  return std::min(active.looks.next_ns(), request_ns);
}

// A member names itself by its index; a CPU-only rank is none.
void Membership::report(std::uint32_t member, std::uint32_t sequence, const wire::Signature& signature) {
  wire::Header message = header(MessageType::report, handles_[member]);
  message.sequence = sequence;
  message.chunk = self_.value_or(members());
  message.signature = signature;
  tell(spec().members[member], message, wire::encode(wire::Sender{context_.self, handle_}));
}

Rejection Membership::on_inquiry(const wire::Header& header, ConstBytes payload) {
  wire::Sender from;
  if (!self_) return Rejection::unexpected;
  if (!wire::decode(payload, &from)) return Rejection::malformed;
  if (!involves(from.rank)) return Rejection::unknown_rank;
  GroupRemains(*this).answer(context_.outbox, header, from);
  return Rejection::none;
}

// CPU-only ranks wait too, but whoever has come is told of members.
Rejection Membership::on_report(const wire::Header& header, TimeNs now) {
  if (header.chunk > members()) return Rejection::unknown_rank;
  if (!self_ || referee_.of(header.sequence) != *self_) return Rejection::unexpected;
  if (header.chunk == members()) return Rejection::none;
  if (!failure_.ok()) {
    tell_abort(spec().members[header.chunk], handles_[header.chunk], header.sequence, failure_, wire::told_to_all);
    return Rejection::none;
  }
  context_.outbox.note_sender(spec().members[header.chunk]);
  quiet_until_ = 0;
  const Status differs = referee_.on_report(header.sequence, header.chunk, header.signature, now);
  if (differs.ok()) return Rejection::none;
  if (!is_past(header.sequence) && !failed_.add(header.sequence, differs)) return Rejection::too_many;
  abort(header.sequence, differs);
  return Rejection::none;
}

// Whom a call waits for: owners, members, and at last its referee for what it may find.
std::vector<Rank> Membership::awaited(const Operation& operation) const {
  std::vector<Rank> ranks;
  if (awaits_plan()) ranks.push_back(spec().members.front());
  if (renewal_ && renewal_->survey) renewal_->survey->add_awaited(&ranks);
  links().add_awaited(operation.sequence(), &ranks);
  std::vector<std::uint32_t> awaited;
  operation.add_awaited(&awaited);
  awaited.push_back(referee_.of(operation.sequence()));
  for (std::uint32_t member : awaited) ranks.push_back(spec().members[member]);
  return ranks;
}

// What a rank that has ended in good order sent has arrived, or is about to; a call that waits for more of it waits in
// vain. And all have come to the calls that it went through, so that one that stands still for long has lost somebody.
bool Membership::fails_for_the_ended(const Operation& operation, TimeNs still_ns) {
  if (ended_.empty() || still_ns < context_.watch.report_ns) return false;
  if (still_ns >= context_.watch.referee.inquire_ns) {
    abort(operation.sequence(), Status(ended_.front()));
    return true;
  }
  std::vector<Rank> ranks = awaited(operation);
  ranks.pop_back();  // its referee, without which it can go on
  for (const Status& ended : ended_) {
    if (std::find(ranks.begin(), ranks.end(), ended.who()) == ranks.end()) continue;
    abort(operation.sequence(), Status(ended));
    return true;
  }
  return false;
}

void Membership::act(const Referee::Action& action, TimeNs now) {
  switch (action.kind) {
    case Referee::Action::Kind::inquire:
      for (std::uint32_t member : action.missing) {
        if (member == self_) continue;
        wire::Header message = header(MessageType::inquiry, handles_[member]);
        message.sequence = action.sequence;
        tell(spec().members[member], message, wire::encode(wire::Sender{context_.self, handle_}));
      }
      return;
    case Referee::Action::Kind::warn:
      return warn(action);
    case Referee::Action::Kind::look_for_lost:
      for (Rank member : spec().members) context_.liveness.ask(member, now);
      for (const PlanOwner& owner : plan().owners) context_.liveness.ask(owner.rank, now);
      return;
  }
}

void Membership::warn(const Referee::Action& action) {
  std::vector<Rank> missing;
  for (std::uint32_t member : action.missing) missing.push_back(spec().members[member]);
  const std::string comm = name_.empty() ? "" : " on comm " + name_;
  const std::string since = std::to_string(context_.watch.referee.warn_ns / 1'000'000'000) + " s";
  context_.log.warn(wire::describe(action.signature) + ", call " + std::to_string(action.sequence) + comm +
                    ", has stood still for " + since + "; " +
                    (missing.empty() ? "all its ranks have come to it" : "not there yet: " + list_ranks(missing)));
}

}  // namespace hps
