// SPDX-License-Identifier: BSD-3-Clause
#include "engine/engine.h"

#include <algorithm>
#include <new>

#include "wire/join.h"
#include "wire/sender.h"

namespace hps {

using wire::MessageType;

namespace {

constexpr std::size_t most_remains = 64;

// Whether calls wait for what these messages bring; others look after calls, measure links or take leave, and may come
// after their receiver has ended in good order.
bool is_needed(MessageType type) {
  switch (type) {
    case MessageType::abort:
    case MessageType::inquiry:
    case MessageType::report:
    case MessageType::ping:
    case MessageType::pong:
    case MessageType::goodbye:
    case MessageType::goodbye_reply:
    case MessageType::measure:
    case MessageType::train:
    case MessageType::measured:
      return false;
    default:
      return true;
  }
}

Status loss_of(Rank peer, const Status& why) {
  return {Code::peer_failed, "lost rank " + std::to_string(peer) + ": " + why.text(), peer};
}

}  // namespace

// A message whose payload was handed over. It owns itself while it is under way.
class Engine::OwnedSend final : public SendCompletion {
 public:
  OwnedSend(Engine& engine, std::vector<std::byte> payload) : engine_(engine), payload_(std::move(payload)) {
    ++engine_.owned_sends_;
  }
  ~OwnedSend() { --engine_.owned_sends_; }
  ConstBytes payload() const noexcept { return payload_; }
  void on_sent(const Status&) noexcept override { delete this; }

 private:
  Engine& engine_;
  std::vector<std::byte> payload_;
};

Engine::Engine(const EngineOptions& options, Transport& transport)
    : options_(options),
      transport_(transport),
      service_({options.self, options.serve_memory_bytes, options.sum_threads, options.log, options.trace}, *this),
      liveness_(options.self, options.timeout_ns, *this),
      prober_(options.self, *this, options.log),
      shutdown_(options.self, *this, liveness_) {
  transport_.set_handler(*this);
}

Engine::~Engine() = default;

void Engine::add_peer(Rank peer, std::uint32_t token) {
  const auto at = static_cast<std::size_t>(peer);
  if (at >= peers_.size()) peers_.resize(at + 1);
  peers_[at].token = token;
}

Membership* Engine::add_group() {
  const std::uint32_t handle = handles_.add(nullptr);
  if (handle == 0) return nullptr;
  const MembershipContext context{options_.self, now_,        *this,          service_,     liveness_,
                                  prober_,       lost_peers_, options_.watch, options_.log, options_.trace};
  groups_.push_back(std::make_unique<Membership>(context, handle));
  *handles_.find(handle) = groups_.back().get();
  return groups_.back().get();
}

void Engine::retire(Membership& membership) {
  const auto at =
      std::find_if(groups_.begin(), groups_.end(), [&](const auto& one) { return one.get() == &membership; });
  if (at == groups_.end()) return;
  membership.close();
  retired_.push_back(std::move(*at));
  groups_.erase(at);
  destroy_retired();
}

void Engine::destroy_retired() noexcept {
  std::erase_if(retired_, [&](const auto& membership) {
    if (!membership->closed()) return false;
    handles_.remove(membership->handle());
    if (!membership->is_open() || !membership->self()) return true;
    if (remains_.size() == most_remains) remains_.pop_front();
    remains_.emplace_back(*membership);
    return true;
  });
}

Status Engine::send(Rank to, wire::Header header, ConstBytes payload, SendCompletion* completion) {
  const auto at = static_cast<std::size_t>(to);
  if (!is_known(static_cast<std::uint32_t>(to)))
    return {Code::internal, "rank " + std::to_string(to) + " is not known", to};
  peers_[at].contacted = true;
  peers_[at].needed |= is_needed(header.type);
  header.token = peers_[at].token;
  const wire::HeaderBytes bytes = wire::encode(header);
  Status status = transport_.send(to, bytes, payload, completion);
  if (status.ok()) return {};
  lost_.push_back({to, status, false});
  const auto known = lost_peers_.find(to);
  return known != lost_peers_.end() ? known->second.why : loss_of(to, status);
}

Status Engine::send_copy(Rank to, const wire::Header& header, std::vector<std::byte> payload) {
  auto owned = std::make_unique<OwnedSend>(*this, std::move(payload));
  HPS_RETURN_IF_ERROR(send(to, header, owned->payload(), owned.get()));
  static_cast<void>(owned.release());  // on_sent destroys it, and may have done so already
  return {};
}

Status Engine::send_goodbye(MessageType type, Rank to) {
  wire::Header header;
  header.type = type;
  header.chunk = static_cast<std::uint32_t>(options_.self);
  return send_copy(to, header, {});
}

void Engine::say_goodbye() {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto peer = static_cast<Rank>(i);
    if (!peers_[i].contacted || peers_[i].ended || lost_peers_.contains(peer)) continue;
    // One that cannot be reached has nothing left to hear.
    if (send_goodbye(MessageType::goodbye, peer).ok()) not_heard_.push_back(peer);
  }
}

Rejection Engine::on_goodbye(const wire::Header& header) {
  const auto peer = static_cast<Rank>(header.chunk);
  // A goodbye is no answer: two may cross each other.
  if (header.type == MessageType::goodbye_reply)
    return std::erase(not_heard_, peer) != 0 ? Rejection::none : Rejection::late;
  peers_[header.chunk].ended = true;
  liveness_.forget(peer);
  shutdown_.on_peer_ended(peer, {});
  if (Status sent = send_goodbye(MessageType::goodbye_reply, peer); !sent.ok())
    options_.log.debug("could not answer a goodbye: " + sent.to_string());
  return Rejection::none;
}

void Engine::on_message(Rank source, ConstBytes bytes, ConstBytes payload) noexcept try {
  Counters& counters = service_.counters();
  ++counters.messages;
  if (const Rejection why = receive(source, bytes, payload); why != Rejection::none) counters.reject(why);
} catch (const std::bad_alloc&) {
  out_of_memory_ = true;
}

Rejection Engine::receive(Rank source, ConstBytes bytes, ConstBytes payload) {
  wire::Header header;
  if (!wire::decode(bytes, &header)) return Rejection::not_hps;
  if (header.token != options_.token) return Rejection::wrong_token;
  if (!may_be_of(sender_named_in(header, payload), source)) return Rejection::wrong_source;
  return dispatch(source, header, payload);
}

// The rank that a message says it is from; no_rank where it names none, or where only a group can tell which rank it
// names: Membership looks at messages to its group then, and the service at a JOIN, once they know the group.
Rank Engine::sender_named_in(const wire::Header& header, ConstBytes payload) {
  wire::Sender sender;
  wire::JoinReply reply;
  switch (header.type) {
    case MessageType::push:
    case MessageType::leave:
    case MessageType::cancel:
      return service_.member_of(header.handle);
    case MessageType::shutdown:
    case MessageType::goodbye:
    case MessageType::goodbye_reply:
    case MessageType::ping:
    case MessageType::pong:
    case MessageType::measure:
    case MessageType::train:
    case MessageType::measured:
      return static_cast<Rank>(header.chunk);
    case MessageType::inquiry:
    case MessageType::report:
      return wire::decode(payload, &sender) ? sender.rank : no_rank;
    case MessageType::join_reply:
      return wire::decode(payload, &reply) ? reply.owner : no_rank;
    default:
      return no_rank;
  }
}

// The service counts what it rejects itself.
Rejection Engine::dispatch(Rank source, const wire::Header& header, ConstBytes payload) {
  switch (header.type) {
    case MessageType::push:
      service_.on_push(header, payload);
      return Rejection::none;
    case MessageType::join:
      service_.on_join(header, payload, source);
      return Rejection::none;
    case MessageType::leave:
      service_.on_leave(header);
      return Rejection::none;
    case MessageType::cancel:
      service_.on_cancel(header, payload);
      return Rejection::none;
    case MessageType::shutdown:
    case MessageType::goodbye:
    case MessageType::goodbye_reply:
    case MessageType::ping:
    case MessageType::pong:
    case MessageType::measure:
    case MessageType::train:
      return is_known(header.chunk) ? on_message_of_process(header, payload) : Rejection::unknown_rank;
    default:
      Membership** membership = handles_.find(header.handle);
      if (membership == nullptr) return on_message_after_end(header, payload);
      return (*membership)->on_message(source, header, payload, now_);
  }
}

// Of one process to another, whatever their groups; who sent it is known.
Rejection Engine::on_message_of_process(const wire::Header& header, ConstBytes payload) {
  switch (header.type) {
    case MessageType::shutdown:
      return shutdown_.on_message(header, payload) ? Rejection::none : Rejection::unexpected;
    case MessageType::goodbye:
    case MessageType::goodbye_reply:
      return on_goodbye(header);
    case MessageType::measure:
      return prober_.on_order(header, payload);
    case MessageType::train:
      return prober_.on_train(header, payload);
    default:
      return liveness_.on_message(header) ? Rejection::none : Rejection::late;
  }
}

// For a group that this rank has left.
Rejection Engine::on_message_after_end(const wire::Header& header, ConstBytes payload) {
  switch (header.type) {
    case MessageType::inquiry:
    case MessageType::report:
      return answer_after_end(header, payload);
    case MessageType::join_reply:
      return decline(header, payload);
    default:
      return handles_.was_given_out(header.handle) ? Rejection::late : Rejection::unknown_group;
  }
}

Rejection Engine::answer_after_end(const wire::Header& header, ConstBytes payload) {
  wire::Sender from;
  if (!wire::decode(payload, &from)) return Rejection::malformed;
  if (!is_known(static_cast<std::uint32_t>(from.rank))) return Rejection::unknown_rank;
  for (const GroupRemains& group : remains_) {
    if (group.handle() != header.handle) continue;
    group.answer(*this, header, from);
    return Rejection::none;
  }
  return handles_.was_given_out(header.handle) ? Rejection::late : Rejection::unknown_group;
}

// An owner that lets this rank in again, though it has left, would keep the group for ever.
Rejection Engine::decline(const wire::Header& header, ConstBytes payload) {
  wire::JoinReply reply;
  if (!wire::decode(payload, &reply)) return Rejection::malformed;
  if (!is_known(static_cast<std::uint32_t>(reply.owner))) return Rejection::unknown_rank;
  if (reply.handle == 0) return Rejection::late;
  wire::Header message;
  message.type = MessageType::leave;
  message.handle = reply.handle;
  message.chunk = header.chunk;
  return send_copy(reply.owner, message, {}).ok() ? Rejection::none : Rejection::late;
}

void Engine::note_sender(Rank peer) noexcept {
  Peer& state = peers_[static_cast<std::size_t>(peer)];
  state.contacted = state.needed = true;
}

void Engine::on_peer_failed(Rank peer, const Status& why) noexcept try {
  lost_.push_back({peer, why, false});
} catch (const std::bad_alloc&) {
  out_of_memory_ = true;
}

// Calls fail here and not inside the transport's callbacks, where sending may be half done.
void Engine::tell_lost_peers() {
  while (!lost_.empty()) {
    for (const Loss& loss : std::exchange(lost_, {})) lose(loss);
  }
}

// Several may find the same loss: a failed send, the connection, silence. Once is enough.
void Engine::lose(const Loss& loss) {
  const Rank peer = loss.peer;
  const bool has_heard = std::erase(not_heard_, peer) == 0;
  liveness_.forget(peer);
  if ((goodbyes_ && has_heard) || lost_peers_.contains(peer)) return;
  const Peer& state = peers_[static_cast<std::size_t>(peer)];
  const bool ended = state.ended || (!state.needed && !loss.is_silent);
  const bool missed = std::any_of(groups_.begin(), groups_.end(),
                                  [&](const auto& group) { return group->is_open() && group->involves(peer); });
  const Status status = state.ended ? Status(Code::peer_failed, "rank " + std::to_string(peer) + " has ended", peer)
                                    : loss_of(peer, loss.why);
  if (missed && !ended)
    options_.log.warn(status.to_string());
  else
    options_.log.debug(status.to_string());
  lost_peers_.emplace(peer, LostPeer{status, ended});
  if (ended) {
    shutdown_.on_peer_ended(peer, state.ended ? Status() : status);
    service_.on_peer_ended(peer, status);
  } else {
    shutdown_.on_peer_failed(peer, status);
    service_.on_peer_failed(peer, status);
  }
  for (auto* groups : {&groups_, &retired_}) {
    for (std::size_t i = 0; i < groups->size(); ++i) {
      if (ended) (*groups)[i]->on_peer_ended(peer, status);
      if (!ended) (*groups)[i]->on_peer_failed(peer, status);
    }
  }
}

// Names this rank too: where frames are lost one way, it may be the one that is cut off, and be heard by all.
void Engine::find_silent_peers(TimeNs now) {
  const std::string after = "it has not answered rank " + std::to_string(options_.self) + " for " +
                            std::to_string(options_.timeout_ns / 1'000'000'000) + " s (HPS_TIMEOUT)";
  for (Rank peer : liveness_.overdue(now)) lost_.push_back({peer, Status(Code::peer_failed, after, peer), true});
}

// Who does not answer a goodbye is lost too.
TimeNs Engine::look_for_not_heard(TimeNs now) {
  if (not_heard_.empty()) return never_ns;
  const TimeNs interval_ns = liveness_.interval_ns();
  if (interval_ns == never_ns) return never_ns;
  if (goodbye_looks_.is_due(now, interval_ns)) {
    for (Rank peer : not_heard_) liveness_.ask(peer, now);
  }
  return goodbye_looks_.next_ns();
}

void Engine::fail_all(const Status& why) noexcept try {
  service_.fail(why);
  for (std::size_t i = 0; i < groups_.size(); ++i) groups_[i]->fail(why);
} catch (const std::bad_alloc&) {
  out_of_memory_ = true;  // another try at the next step
}

TimeNs Engine::step(TimeNs now) noexcept try {
  now_ = now;
  if (std::exchange(out_of_memory_, false))
    fail_all({Code::no_memory, "rank " + std::to_string(options_.self) + " has no memory left", options_.self});
  return work(now);
} catch (const std::bad_alloc&) {
  out_of_memory_ = true;
  return now;
}

// Members of a group that others have left are about to leave too, or are lost.
TimeNs Engine::look_for_parting_members(TimeNs now) {
  if (!service_.has_parting_groups()) {
    parting_looks_.stop();
    return never_ns;
  }
  const TimeNs interval_ns = liveness_.interval_ns();
  if (interval_ns == never_ns) return never_ns;
  parting_looks_.start(now, interval_ns);
  if (parting_looks_.is_due(now, interval_ns)) {
    std::vector<Rank> ranks;
    service_.add_awaited(&ranks);
    for (Rank rank : ranks) liveness_.ask(rank, now);
  }
  return parting_looks_.next_ns();
}

// To the groups that gave the orders.
void Engine::tell_measured(TimeNs now) {
  for (const Prober::Result& result : prober_.step(now)) {
    wire::Header header;
    header.type = MessageType::measured;
    header.handle = result.client.handle;
    header.sequence = result.client.order;
    header.chunk = static_cast<std::uint32_t>(options_.self);
    std::vector<std::byte> payload = wire::encode(result.measured);
    if (result.client.rank == options_.self) {
      const Rejection why = dispatch(options_.self, header, payload);
      if (why != Rejection::none) service_.counters().reject(why);
    } else if (const Status sent = send_copy(result.client.rank, header, std::move(payload)); !sent.ok()) {
      options_.log.debug("could not tell what was measured: " + sent.to_string());
    }
  }
}

TimeNs Engine::work(TimeNs now) {
  tell_measured(now);
  if (now >= liveness_.next()) find_silent_peers(now);
  if (!lost_.empty()) tell_lost_peers();
  service_.sum_ready();
  service_.collect();
  TimeNs next = look_for_parting_members(now);
  for (std::size_t i = 0; i < groups_.size(); ++i) next = std::min(next, groups_[i]->step(now));
  for (std::size_t i = 0; i < retired_.size(); ++i) next = std::min(next, retired_[i]->step(now));
  if (!retired_.empty()) destroy_retired();
  next = std::min({next, shutdown_.step(now), look_for_not_heard(now)});
  if (!lost_.empty()) return now;
  return std::min(next, liveness_.next());
}

void Engine::log_counters() const {
  const Counters& counters = service_.counters();
  options_.log.info("counted: " + counters.describe());
  if (const std::string rejected = counters.describe_unusual(); !rejected.empty())
    options_.log.warn("rank " + std::to_string(options_.self) + ": " + rejected);
}

bool Engine::busy() const noexcept {
  return owned_sends_ != 0 || service_.sending() || prober_.busy() ||
         std::any_of(groups_.begin(), groups_.end(), [](const auto& group) { return group->active(); });
}

}  // namespace hps
