// SPDX-License-Identifier: BSD-3-Clause
// The whole Engine of a worker, with a group and calls under way, on messages of any bytes. The input is a list of
// events; of a message it says which fields are put right, since random bytes alone would never get past the token.
// Nothing crashes, what is reserved stays within the budget, and when all peers are lost every call has ended.
#include <memory>
#include <vector>

#include "coll/select.h"
#include "engine/engine.h"
#include "fuzz/byte_source.h"
#include "fuzz/target.h"
#include "plan/layout.h"
#include "wire/join.h"

namespace hps::fuzz {
namespace {

constexpr Rank me = 1;
constexpr Rank peers = 4;  // three workers and a CPU-only rank
constexpr std::uint32_t my_token = 0x5eed;
constexpr std::uint64_t budget = 20'000;
constexpr std::uint64_t elements = 200;
constexpr std::uint32_t most_events = 500;

// Takes everything, and tells of it when it is asked to.
class RecordingTransport final : public Transport {
 public:
  void set_handler(TransportHandler&) noexcept override {}
  Status send(Rank peer, ConstBytes, ConstBytes payload, SendCompletion* completion) override {
    if (refuses) return {Code::transport, "refused", peer};
    for (std::byte byte : payload) sum_ ^= byte;  // for AddressSanitizer to see
    if (completion != nullptr) pending_.push_back(completion);
    return {};
  }
  std::size_t max_chunk_bytes() const noexcept override { return 61440; }
  void complete(const Status& status) {
    for (SendCompletion* completion : std::exchange(pending_, {})) completion->on_sent(status);
  }

  bool refuses = false;

 private:
  std::vector<SendCompletion*> pending_;
  std::byte sum_{};
};

wire::GroupSpec group_spec(Algorithm algorithm) {
  wire::GroupSpec spec;
  spec.id = {0, 1};
  spec.members = {0, me, 2};
  spec.layout = layout_from_nodes({0, 1, 2});
  PlanOptions options;
  options.chunk_bytes = 128;
  options.algorithm = algorithm;
  const Status made =
      make_plan({{false, 0, {0}}, {false, 0, {me}}, {false, 0, {2}}, {true, 0, {3}}}, options, &spec.plan);
  require(made.ok(), made.to_string());
  return spec;
}

// What the input says is put right in a message.
enum Right : std::uint8_t {
  right_form = 1,
  right_token = 2,
  right_group = 4,   // the handle of the group here
  right_member = 8,  // a handle of the service's first places
  right_call = 16,   // plan and sequence number
  right_signature = 32,
  right_length = 64,  // of a chunk
  right_join = 128    // a JOIN of this group, by member 0 or 2
};

class Bench {
 public:
  explicit Bench(ConstBytes input)
      : in_(input),
        spec_(group_spec(in_.byte() % 2 != 0 ? Algorithm::recursive_doubling : Algorithm::direct)),
        engine_(EngineOptions{me, my_token, budget, 1, 0, {}, Log(LogLevel::error, me)}, transport_),
        membership_(engine_.add_group()),
        send_(elements, 1.0F),
        receive_(elements) {
    for (Rank peer = 0; peer < peers; ++peer) engine_.add_peer(peer, 77);
    require(membership_->open(spec_, {1u << 20, membership_->handle(), 1u << 20}).ok(), "the group cannot be opened");
  }

  void run() {
    for (std::uint32_t i = 0; i < most_events && !in_.empty(); ++i) {
      event(in_.byte() % 16);
      require(engine_.service().reserved_bytes() <= budget, "more is reserved than the budget");
    }
    end();
  }

 private:
  void event(std::uint32_t what) {
    switch (what) {
      case 0:
        return start_call();
      case 1:
        return finish_call();
      case 2:
        return transport_.complete({});
      case 3:
        return transport_.complete({Code::transport, "lost"});
      case 4:
        return lose(static_cast<Rank>(in_.below(peers)));
      case 5:
        transport_.refuses = in_.byte() % 4 == 0;
        return;
      case 6:
        return static_cast<void>(engine_.step(0));
      case 7:
        return new_plan();
      default:
        return message();
    }
  }

  void start_call() {
    if (call_) return;
    call_ = make_allreduce_hetero(
        *membership_, {reinterpret_cast<const std::byte*>(send_.data()), reinterpret_cast<std::byte*>(receive_.data()),
                       elements, Datatype::float32, Op::sum});
    membership_->start(*call_);
    ++sequence_;
  }

  void finish_call() {
    if (!call_ || !call_->done()) return;
    membership_->finish(*call_);
    call_.reset();
  }

  // As member 0 sends it, of other chunks, or with the plan as it was; for a call that may be over or not have begun.
  void new_plan() {
    wire::Header header;
    header.type = wire::MessageType::new_plan;
    header.token = my_token;
    header.handle = membership_->handle();
    header.sequence = sequence_ - in_.byte() % 3;
    wire::GroupSpec next = membership_->spec();
    const std::uint8_t what = in_.byte();
    next.plan.chunk_bytes = 64u << (what % 3);
    next.plan.min_chunk_bytes = 64;
    next.plan.number = static_cast<std::uint16_t>(next.plan.number + what / 3 % 4);
    next.id.plan = next.plan.number;
    const auto payload = what % 5 == 0 ? std::vector<std::byte>() : wire::encode(next);
    engine_.on_message(0, wire::encode(header), payload);
  }

  void lose(Rank peer) {
    if (peer != me) engine_.on_peer_failed(peer, {Code::transport, "lost"});
  }

  void message() {
    const std::uint8_t right = in_.byte();
    wire::HeaderBytes bytes{};
    const ConstBytes given = in_.take_up_to(bytes.size());
    std::copy(given.begin(), given.end(), bytes.begin());
    // From nobody knows where, if the byte of the flags says no more than those; else from one of the ranks.
    const Rank source = static_cast<Rank>((std::to_integer<unsigned>(bytes[5]) >> 1) % (peers + 1)) - 1;
    std::vector<std::byte> payload;
    const ConstBytes rest = in_.take_up_to(2u * in_.byte());
    payload.assign(rest.begin(), rest.end());
    put_right(right, bytes, payload);
    // As long as it was given, so that a read past its end shows.
    engine_.on_message(source, ConstBytes(bytes).first(given.size()), payload);
  }

  void put_right(std::uint8_t right, wire::HeaderBytes& bytes, std::vector<std::byte>& payload) const {
    if ((right & right_form) == 0) return;
    bytes[0] = std::byte{wire::version};
    bytes[1] = std::byte{static_cast<std::uint8_t>(std::to_integer<unsigned>(bytes[1]) % wire::message_types)};
    bytes[2] = bytes[3] = bytes[4] = std::byte{0};
    bytes[5] &= std::byte{1};
    wire::Header header;
    if (!wire::decode(bytes, &header)) return;
    if ((right & right_token) != 0) header.token = my_token;
    if ((right & right_group) != 0) header.handle = membership_->handle();
    if ((right & right_member) != 0) header.handle = 1u << 20 | header.handle % 4;
    if ((right & right_call) != 0) {
      header.plan = membership_->plan().number;
      header.sequence = sequence_;
    }
    if ((right & right_signature) != 0)
      header.signature = {wire::Collective::allreduce_hetero, Datatype::float32, Op::sum, elements};
    if ((right & right_length) != 0) payload.resize(chunk_bytes(header.chunk));
    if ((right & right_join) != 0 && header.type == wire::MessageType::join) payload = join(header.chunk % 2 * 2);
    bytes = wire::encode(header);
  }

  std::size_t chunk_bytes(std::uint64_t chunk) const {
    const Chunking chunking = membership_->plan().chunking(elements, sizeof(float));
    return chunk < chunking.chunks ? chunking.elements(chunk, elements) * sizeof(float) : 128;
  }

  std::vector<std::byte> join(std::uint32_t member) const {
    const std::vector<std::byte> encoded = wire::encode(membership_->spec());
    return wire::encode(wire::Join{membership_->spec().id, member, 9, wire::hash(encoded),
                                   member == 0 ? encoded : std::vector<std::byte>{}});
  }

  void end() {
    transport_.refuses = false;
    for (Rank peer = 0; peer < peers; ++peer) lose(peer);
    // Calls that wait for peers who have said goodbye fail once they have stood still for a while.
    constexpr TimeNs an_hour = 3'600'000'000'000;
    for (TimeNs hours = 0; hours < 4; ++hours) {
      static_cast<void>(engine_.step(hours * an_hour));
      transport_.complete({Code::transport, "lost"});
    }
    require(!call_ || call_->done(), "a call goes on though all peers are lost");
    finish_call();
    engine_.retire(*membership_);
    static_cast<void>(engine_.step(0));
    transport_.complete({});
  }

  ByteSource in_;
  wire::GroupSpec spec_;
  RecordingTransport transport_;
  Engine engine_;
  Membership* membership_;
  std::vector<float> send_;
  std::vector<float> receive_;
  std::unique_ptr<Operation> call_;
  std::uint32_t sequence_ = 0;
};

}  // namespace
}  // namespace hps::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hps::fuzz::Bench({reinterpret_cast<const std::byte*>(data), size}).run();
  return 0;
}
