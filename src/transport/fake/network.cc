// SPDX-License-Identifier: BSD-3-Clause
// The simulation itself. A message's life between hosts: send() puts it in its flow at the uplink; uplink_done tells
// its completion and lets it cross the delay; arrived puts it in the downlink's queue; downlink_done hands it to the
// receiver. Between ranks of one host: left_locally, then delivered. What a rank is told goes through deliver(), which
// keeps it in the rank's inbox while the rank is stopped.
#include "transport/fake/network.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>
#include <string>
#include <utility>
#include <variant>

#include "transport/fake/connection.h"
#include "transport/fake/event_queue.h"
#include "transport/fake/message.h"
#include "transport/fake/port.h"
#include "util/random.h"

namespace hps::fake {
namespace {

constexpr TimeNs long_ago = INT64_MIN / 2;

struct Host {
  HostOptions options;
  Uplink uplink;
  Downlink downlink;

  std::size_t uplink_bytes = 0;   // of streams, that wait for the uplink or are on it
  TimeNs uplink_free = long_ago;  // what has been sent takes the links until then
  TimeNs downlink_free = long_ago;

  TimeNs ns(std::size_t bytes) const noexcept {
    return options.rate > 0 ? std::llround(static_cast<double>(bytes) * 1e9 / options.rate) : 0;
  }
  // How long what comes now waits in the queues.
  TimeNs uplink_wait(TimeNs now) const noexcept { return std::max<TimeNs>({uplink_free - now, 0, ns(uplink_bytes)}); }
  TimeNs downlink_wait(TimeNs now) const noexcept {
    return std::max<TimeNs>(downlink_free - now, 0) + ns(downlink.waiting_bytes());
  }
  // When a message has passed that comes now. One that finds the link free since so many bytes ago is that far already.
  TimeNs pass(const Message& message, std::size_t ahead_bytes, TimeNs now, TimeNs* free) const noexcept {
    *free = std::max(*free, now - ns(ahead_bytes)) + ns(message.wire_bytes);
    return std::max(*free, now);
  }
};

// What a rank is told.
struct Arrival {
  Message* message;
};
struct Sent {
  SendCompletion* completion;
  Status status;
};
struct PeerFailure {
  Rank peer;
  Status why;
};
using Delivery = std::variant<Arrival, Sent, PeerFailure>;

}  // namespace

struct Network::Impl {
  class RankTransport final : public Transport {
   public:
    RankTransport(Impl& impl, Rank rank) noexcept : impl_(impl), rank_(rank) {}
    void set_handler(TransportHandler& handler) noexcept override { impl_.rank(rank_).handler = &handler; }
    Status send(Rank peer, ConstBytes header, ConstBytes payload, SendCompletion* completion) override {
      return impl_.send(rank_, peer, header, payload, completion);
    }
    std::size_t max_chunk_bytes() const noexcept override { return impl_.options.max_chunk_bytes; }

   private:
    Impl& impl_;
    const Rank rank_;
  };

  struct RankState {
    RankState(Impl& impl, Rank number, std::uint32_t sits_on, std::function<TimeNs(TimeNs)> steps)
        : transport(impl, number), rank(number), host(sits_on), step(std::move(steps)) {}

    RankTransport transport;
    const Rank rank;
    const std::uint32_t host;
    const std::function<TimeNs(TimeNs)> step;
    TransportHandler* handler = nullptr;
    std::vector<Connection*> connections;  // in the order of their opening
    std::deque<Delivery> inbox;            // what came while the rank was stopped
    bool killed = false;
    bool stopped = false;
  };

  Impl(const NetworkOptions& network_options, const std::vector<HostOptions>& host_options)
      : options(network_options), random(network_options.seed), hosts(host_options.size()) {
    for (std::size_t i = 0; i < hosts.size(); ++i) hosts[i].options = host_options[i];
  }

  RankState& rank(Rank number) { return ranks[static_cast<std::size_t>(number)]; }
  bool exists(Rank number) const noexcept { return number >= 0 && static_cast<std::size_t>(number) < ranks.size(); }
  void schedule(TimeNs time, Event::Kind kind, std::size_t index, Message* message = nullptr) {
    events.push(time, {kind, static_cast<std::uint32_t>(index), message});
  }

  Status send(Rank source, Rank peer, ConstBytes header, ConstBytes payload, SendCompletion* completion);
  Status check_send(Rank source, Rank peer, ConstBytes payload, const SendCompletion* completion);
  Connection& open(Rank a, Rank b);
  Status failure(Rank peer);

  void handle(const Event& event);
  void start_uplink(std::uint32_t host);
  void start_downlink(std::uint32_t host);
  void leave(Message& message);
  void arrive(Message& message);
  void lose(Message& message);
  void send_again(Message& message);
  void hand_over(Flow& flow);
  void leave_port(Message& message);
  void try_again(RankState& sender);
  void receive(Message& message);
  void acknowledge(Message& message);
  void release(Message& message) noexcept;
  std::size_t wire_bytes(std::size_t bytes) const noexcept;
  std::size_t segment_bytes() const noexcept { return options.stream.segment_bytes + options.header_overhead_bytes; }

  void deliver(RankState& rank, Delivery delivery);
  bool tell(RankState& rank, const Arrival& arrival);
  bool tell(RankState& rank, const Sent& sent);
  bool tell(RankState& rank, const PeerFailure& failure);
  void put_in_inbox(RankState& rank, Delivery delivery);
  void take_from_inbox(RankState& rank);
  void step(RankState& rank);

  void break_open(Connection& connection);
  void fail_waiting(Rank sender, Connection& connection);

  const NetworkOptions options;
  Random random;
  TimeNs now = 0;
  EventQueue events;
  MessagePool pool;
  ConnectionTable connections;
  std::vector<Host> hosts;
  std::deque<RankState> ranks;
  std::uint64_t messages = 0;
  std::uint64_t losses = 0;
};

Status Network::Impl::check_send(Rank source, Rank peer, ConstBytes payload, const SendCompletion* completion) {
  if (!exists(peer)) {
    return Status(Code::invalid_argument, "rank " + std::to_string(peer) + " does not exist", peer);
  }
  if (completion == nullptr && !payload.empty()) {
    return Status(Code::invalid_argument, "a payload needs a completion", source);
  }
  if (rank(source).killed) {
    return Status(Code::transport, "rank " + std::to_string(source) + " was killed", source);
  }
  return rank(peer).killed ? failure(peer) : Status();
}

Status Network::Impl::send(Rank source, Rank peer, ConstBytes header, ConstBytes payload, SendCompletion* completion) {
  HPS_RETURN_IF_ERROR(check_send(source, peer, payload, completion));
  Connection& connection = open(source, peer);
  if (connection.broken) return failure(peer);

  Message& message = pool.acquire(header, payload);
  message.source = source;
  message.destination = peer;
  message.connection = &connection;
  message.completion = completion;
  message.wire_bytes = wire_bytes(header.size() + payload.size());

  const std::uint32_t from = rank(source).host;
  if (from == rank(peer).host) {
    schedule(now, Event::Kind::left_locally, 0, &message);
  } else {
    Flow& flow = connection.flow_from(source);
    if (options.streams) {
      if (!flow.stream.is_open()) flow.stream.open(options.stream, 2 * options.delay_ns);
      flow.kept.push(message);
      flow.stream.try_again();
      hand_over(flow);
    } else {
      hosts[from].uplink.push(flow, message);
      if (!hosts[from].uplink.busy()) start_uplink(from);
    }
  }
  return {};
}

// The segments of a stream each have their headers.
std::size_t Network::Impl::wire_bytes(std::size_t bytes) const noexcept {
  const std::size_t segment = options.stream.segment_bytes;
  const std::size_t segments = options.streams ? std::max<std::size_t>((bytes + segment - 1) / segment, 1) : 1;
  return bytes + segments * options.header_overhead_bytes;
}

Connection& Network::Impl::open(Rank a, Rank b) {
  bool made = false;
  Connection& connection = connections.open(a, b, &made);
  if (made) {
    rank(a).connections.push_back(&connection);
    rank(b).connections.push_back(&connection);
  }
  return connection;
}

// Why `peer` cannot be reached.
Status Network::Impl::failure(Rank peer) {
  const char* const what = rank(peer).killed ? " was killed" : " is cut off: the connection is broken";
  return Status(Code::peer_failed, "rank " + std::to_string(peer) + what, peer);
}

void Network::Impl::handle(const Event& event) {
  switch (event.kind) {
    case Event::Kind::uplink_done: {
      Message& message = hosts[event.index].uplink.finish();
      if (options.streams) leave_port(message);
      if (!hosts[event.index].uplink.busy()) start_uplink(event.index);
      return leave(message);
    }
    case Event::Kind::left_locally:
      return leave(*event.message);
    case Event::Kind::arrived:
      return arrive(*event.message);
    case Event::Kind::downlink_done: {
      Message& message = hosts[event.index].downlink.finish();
      start_downlink(event.index);
      return receive(message);
    }
    case Event::Kind::acknowledged:
      return acknowledge(*event.message);
    case Event::Kind::sent_again:
      return send_again(*event.message);
    case Event::Kind::try_again:
      return try_again(ranks[event.index]);
    case Event::Kind::delivered:
      return deliver(rank(event.message->destination), Arrival{event.message});
    case Event::Kind::inbox:
      return take_from_inbox(ranks[event.index]);
    case Event::Kind::step:
      return step(ranks[event.index]);
  }
}

void Network::Impl::start_uplink(std::uint32_t host) {
  Message* const message = hosts[host].uplink.start();
  if (message == nullptr) return;
  Host& from = hosts[host];
  schedule(from.pass(*message, from.options.burst_bytes, now, &from.uplink_free), Event::Kind::uplink_done, host);
}

void Network::Impl::start_downlink(std::uint32_t host) {
  Downlink& downlink = hosts[host].downlink;
  const Message* const message = downlink.start();
  if (message == nullptr) return;
  // The segments of a stream are passed on as they come: only the last one is still to pass where the link was free.
  Host& to = hosts[host];
  const std::size_t last = options.streams ? std::min(message->wire_bytes, segment_bytes()) : message->wire_bytes;
  const std::size_t ahead = std::max(to.options.burst_bytes, message->wire_bytes - last);
  const TimeNs done = to.pass(*message, ahead, now, &to.downlink_free);
  downlink.set_busy_until(done);
  schedule(done, Event::Kind::downlink_done, host);
}

// The message has left its sender. It sets out before the sender is told, who may send the next one at once.
void Network::Impl::leave(Message& message) {
  const bool broken = message.connection->broken;
  RankState& sender = rank(message.source);
  SendCompletion* const completion = std::exchange(message.completion, nullptr);
  Status status = broken ? failure(message.destination) : Status();
  if (broken) {
    pool.release(message);
  } else {
    const bool jitters = options.jitter_ns > 0;
    const TimeNs jitter =
        jitters ? static_cast<TimeNs>(random.up_to(static_cast<std::uint64_t>(options.jitter_ns))) : 0;
    const bool local = sender.host == rank(message.destination).host;
    schedule(now + options.delay_ns + jitter, local ? Event::Kind::delivered : Event::Kind::arrived, 0, &message);
  }
  if (completion != nullptr) deliver(sender, Sent{completion, std::move(status)});
}

void Network::Impl::arrive(Message& message) {
  const std::uint32_t host = rank(message.destination).host;
  Downlink& downlink = hosts[host].downlink;
  const std::size_t room = hosts[host].options.downlink_queue_bytes;
  const bool is_full = room != 0 && downlink.busy() && downlink.waiting_bytes() + message.wire_bytes > room;
  if (options.streams && is_full) return lose(message);
  downlink.push(message, now);
  if (!downlink.busy()) start_downlink(host);
}

void Network::Impl::lose(Message& message) {
  ++losses;
  Flow& flow = message.connection->flow_from(message.source);
  const bool more_follows = !flow.waiting.empty() || !flow.kept.empty();
  schedule(flow.stream.on_lost(message, more_follows, now, options.stream), Event::Kind::sent_again, 0, &message);
}

void Network::Impl::send_again(Message& message) {
  if (message.connection->broken) return pool.release(message);
  Flow& flow = message.connection->flow_from(message.source);
  flow.again.push(message);
  hand_over(flow);
}

// As much as the flow's window and the port allow.
void Network::Impl::hand_over(Flow& flow) {
  for (;;) {
    const bool is_again = !flow.again.empty();
    IntrusiveFifo<Message>& queue = is_again ? flow.again : flow.kept;
    if (queue.empty()) return;
    Message& message = *queue.front();
    const std::size_t bytes = message.wire_bytes;
    Host& host = hosts[rank(message.source).host];
    if (!is_again && !flow.stream.may_send(bytes)) return flow.stream.note_limited();
    if (flow.stream.has_enough_at_port(bytes, options.stream)) return;
    const std::size_t room = host.options.uplink_queue_bytes;
    if (room != 0 && host.uplink_bytes != 0 && host.uplink_bytes + bytes > room) {
      ++losses;
      if (flow.stream.on_refused(now, options.stream))
        schedule(now + options.stream.least_timeout_ns, Event::Kind::try_again,
                 static_cast<std::size_t>(message.source));
      return;
    }
    queue.pop();
    if (!is_again) flow.stream.on_sent(message, now);
    flow.stream.on_at_port(bytes);
    host.uplink_bytes += bytes;
    host.uplink.push(flow, message);
    if (!host.uplink.busy()) start_uplink(rank(message.source).host);
  }
}

void Network::Impl::try_again(RankState& sender) {
  for (Connection* const connection : sender.connections) {
    Flow& flow = connection->flow_from(sender.rank);
    flow.stream.try_again();
    hand_over(flow);
  }
}

void Network::Impl::leave_port(Message& message) {
  Flow& flow = message.connection->flow_from(message.source);
  hosts[rank(message.source).host].uplink_bytes -= message.wire_bytes;
  flow.stream.on_left_port(message.wire_bytes);
  hand_over(flow);
}

// Hands over what has come, and what waited for it. A message of a stream lives until its sender knows of it.
void Network::Impl::receive(Message& message) {
  RankState& to = rank(message.destination);
  if (!options.streams) return deliver(to, Arrival{&message});
  Stream& stream = message.connection->flow_from(message.source).stream;
  stream.put(message);
  const TimeNs back_ns =
      options.delay_ns + hosts[to.host].uplink_wait(now) + hosts[rank(message.source).host].downlink_wait(now);
  while (Message* const next = stream.take()) {
    next->uses = 2;
    schedule(now + back_ns, Event::Kind::acknowledged, 0, next);
    deliver(to, Arrival{next});
  }
}

void Network::Impl::acknowledge(Message& message) {
  Flow& flow = message.connection->flow_from(message.source);
  flow.stream.on_acknowledged(message, now, options.stream);
  hand_over(flow);
  release(message);
}

void Network::Impl::release(Message& message) noexcept {
  if (--message.uses == 0) pool.release(message);
}

// Tells the rank now, unless it is stopped or has older things in its inbox: these come first.
void Network::Impl::deliver(RankState& to, Delivery delivery) {
  if (to.stopped || !to.inbox.empty()) return put_in_inbox(to, std::move(delivery));
  if (std::visit([&](const auto& what) { return tell(to, what); }, delivery)) step(to);
}

// The tell functions say whether there was something to tell.
bool Network::Impl::tell(RankState& to, const Arrival& arrival) {
  Message& message = *arrival.message;
  const bool alive = !to.killed && !message.connection->broken;
  if (alive) {
    assert(to.handler != nullptr);
    ++messages;
    to.handler->on_message(message.source, message.header(), message.payload());
  }
  release(message);
  return alive;
}

bool Network::Impl::tell(RankState& to, const Sent& sent) {
  if (!to.killed) sent.completion->on_sent(sent.status);
  return !to.killed;
}

bool Network::Impl::tell(RankState& to, const PeerFailure& failed) {
  if (to.killed) return false;
  assert(to.handler != nullptr);
  to.handler->on_peer_failed(failed.peer, failed.why);
  return true;
}

void Network::Impl::put_in_inbox(RankState& to, Delivery delivery) {
  to.inbox.push_back(std::move(delivery));
  if (!to.stopped) schedule(now, Event::Kind::inbox, static_cast<std::size_t>(to.rank));
}

void Network::Impl::take_from_inbox(RankState& to) {
  if (to.stopped || to.inbox.empty()) return;
  const Delivery delivery = std::move(to.inbox.front());
  to.inbox.pop_front();
  if (std::visit([&](const auto& what) { return tell(to, what); }, delivery)) step(to);
}

void Network::Impl::step(RankState& of) {
  if (of.killed || of.stopped || !of.step) return;
  const TimeNs wanted = of.step(now);
  const bool again = wanted != never_ns && !of.killed && !of.stopped;
  events.set_timer(of.rank, again ? std::max(wanted, now + 1) : never_ns);
}

// Both ends learn it by an event, never inside the call that broke the connection.
void Network::Impl::break_open(Connection& connection) {
  if (connection.broken) return;
  connection.broken = true;
  const Rank ends[] = {connection.low, connection.high};
  for (const Rank end : ends) {
    const Rank peer = connection.peer_of(end);
    fail_waiting(end, connection);
    put_in_inbox(rank(end), PeerFailure{peer, failure(peer)});
    if (end == peer) return;
  }
}

// Takes what waits for the uplink back to its sender. A message that is on the link fails when it leaves.
void Network::Impl::fail_waiting(Rank sender, Connection& connection) {
  Flow& flow = connection.flow_from(sender);
  Host& host = hosts[rank(sender).host];
  for (IntrusiveFifo<Message>* const queue : {&flow.waiting, &flow.kept, &flow.again})
    while (Message* const message = queue->pop()) {
      if (options.streams && queue == &flow.waiting) host.uplink_bytes -= message->wire_bytes;
      if (message->completion != nullptr) {
        put_in_inbox(rank(sender), Sent{message->completion, failure(message->destination)});
      }
      pool.release(*message);
    }
}

Network::Network(const NetworkOptions& options, const std::vector<HostOptions>& hosts)
    : impl_(std::make_unique<Impl>(options, hosts)) {}

Network::~Network() = default;

Transport& Network::add_rank(std::uint32_t host, std::function<TimeNs(TimeNs now)> step) {
  assert(host < impl_->hosts.size());
  const auto number = static_cast<Rank>(impl_->ranks.size());
  return impl_->ranks.emplace_back(*impl_, number, host, std::move(step)).transport;
}

void Network::wake(Rank rank) { impl_->schedule(impl_->now, Event::Kind::step, static_cast<std::size_t>(rank)); }

TimeNs Network::run(const std::function<bool()>& stop, TimeNs deadline) {
  Impl& impl = *impl_;
  for (TimeNs next = impl.events.next_time(); next != never_ns; next = impl.events.next_time()) {
    if (next > deadline) {
      impl.now = std::max(impl.now, deadline);
      break;
    }
    impl.now = next;
    impl.handle(impl.events.pop());
    if (stop && stop()) break;
  }
  return impl.now;
}

TimeNs Network::now() const noexcept { return impl_->now; }

void Network::kill(Rank rank) {
  Impl::RankState& state = impl_->rank(rank);
  state.killed = true;
  impl_->events.set_timer(rank, never_ns);
  for (Connection* const connection : state.connections) impl_->break_open(*connection);
}

void Network::stop(Rank rank) {
  impl_->rank(rank).stopped = true;
  impl_->events.set_timer(rank, never_ns);
}

// The rank steps too: its timer may have come meanwhile.
void Network::resume(Rank rank) {
  Impl::RankState& state = impl_->rank(rank);
  if (!state.stopped) return;
  state.stopped = false;
  const auto index = static_cast<std::size_t>(rank);
  for (std::size_t i = 0; i < state.inbox.size(); ++i) impl_->schedule(impl_->now, Event::Kind::inbox, index);
  impl_->schedule(impl_->now, Event::Kind::step, index);
}

void Network::break_connection(Rank a, Rank b) { impl_->break_open(impl_->open(a, b)); }

void Network::set_rate(std::uint32_t host, double bytes_per_second) {
  impl_->hosts[host].options.rate = bytes_per_second;
}

std::uint64_t Network::messages() const noexcept { return impl_->messages; }
std::uint64_t Network::losses() const noexcept { return impl_->losses; }
std::uint64_t Network::bytes_sent(std::uint32_t host) const noexcept { return impl_->hosts[host].uplink.bytes(); }
std::uint64_t Network::bytes_received(std::uint32_t host) const noexcept { return impl_->hosts[host].downlink.bytes(); }
std::uint64_t Network::peak_queue_bytes(std::uint32_t host) const noexcept {
  return impl_->hosts[host].downlink.peak_waiting_bytes();
}

}  // namespace hps::fake
