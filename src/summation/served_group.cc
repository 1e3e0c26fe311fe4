// SPDX-License-Identifier: BSD-3-Clause
#include "summation/served_group.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "wire/abort.h"

namespace hps {
namespace {

constexpr std::uint32_t nobody = UINT32_MAX;

std::optional<std::uint32_t> index_of(const std::vector<Rank>& members, Rank rank) {
  const auto at = std::find(members.begin(), members.end(), rank);
  if (at == members.end()) return std::nullopt;
  return static_cast<std::uint32_t>(at - members.begin());
}

std::vector<std::uint32_t> owners_of(const Plan& plan, Rank rank) {
  std::vector<std::uint32_t> owners;
  for (std::uint32_t i = 0; i < plan.owners.size(); ++i) {
    if (plan.owners[i].rank == rank) owners.push_back(i);
  }
  return owners;
}

}  // namespace

ServedGroup::ServedGroup(wire::GroupSpec spec, const ServiceOptions& options, wire::Outbox& outbox,
                         ServiceCounters& counters)
    : spec_(std::move(spec)),
      options_(options),
      outbox_(outbox),
      counters_(counters),
      tree_(spec_.layout),
      my_owners_(owners_of(spec_.plan, options.self)),
      local_member_(index_of(spec_.members, options.self)),
      remote_members_(members() - (local_member_ ? 1 : 0)),
      members_(members()),
      pool_(spec_.plan.chunk_bytes) {}

std::uint32_t ServedGroup::least_credits() const noexcept {
  std::uint32_t credits = 0;
  for (std::uint32_t owner : my_owners_) credits += spec_.plan.most_in_span(owner, spec_.plan.rotation);
  return std::max(credits, 1u);
}

std::uint32_t ServedGroup::wanted_credits() const noexcept {
  std::uint32_t credits = 0;
  for (std::uint32_t owner : my_owners_)
    credits += spec_.plan.most_in_span(owner, spec_.plan.rotation + spec_.plan.window);
  return std::max(credits, least_credits());
}

// A slot for each member's contribution, and a buffer for the result.
std::uint64_t ServedGroup::bytes_per_credit() const noexcept {
  return static_cast<std::uint64_t>(remote_members_ + 1) * pool_.bytes();
}

bool ServedGroup::join(std::uint32_t member, std::uint32_t reply_handle) {
  if (members_[member].state != MemberState::absent) return false;
  members_[member] = {MemberState::joined, reply_handle};
  ++joined_;
  return true;
}

// The contributions of calls that failed go with the last member.
void ServedGroup::leave(std::uint32_t member) {
  if (members_[member].state == MemberState::left) return;
  if (members_[member].state == MemberState::joined) --joined_;
  members_[member].state = MemberState::left;
  ++left_;
  if (joined_ != 0) return;
  for (const auto& call : calls_) give_up(*call);
  for (auto& [id, chunk] : chunks_) discard(*chunk);
  chunks_.clear();
}

bool ServedGroup::drained(bool last_call_is_over) const noexcept {
  return pool_.in_use() == 0 && joined_ == 0 && (left_ != 0 || last_call_is_over);
}

void ServedGroup::reject(std::uint32_t member, const wire::Header& header, const char* why) noexcept {
  ++counters_.rejected;
  if (!options_.log.enabled(LogLevel::debug)) return;
  options_.log.debug("rejected a message of rank " + std::to_string(spec_.members[member]) + ", call " +
                     std::to_string(header.sequence) + ", chunk " + std::to_string(header.chunk) + ": " + why);
}

// Calls on one communicator follow each other, so a handful are under way at most.
ServedGroup::Call* ServedGroup::find_call(std::uint32_t sequence) noexcept {
  for (const auto& call : calls_) {
    if (call->sequence == sequence) return call.get();
  }
  return nullptr;
}

// Sequence numbers wrap around, and any number of calls may go by without this owner. What is over is not far behind.
bool ServedGroup::is_over(std::uint32_t sequence) const noexcept { return over_through_ - sequence < calls_kept_apart; }

// The call of this number, made where this is the first to be heard of it. A signature that differs aborts it.
ServedGroup::Call* ServedGroup::call_of(std::uint32_t sequence, const wire::Signature& signature, Rank who) {
  Call* call = find_call(sequence);
  if (call == nullptr) {
    auto made = std::make_unique<Call>();
    made->sequence = sequence;
    made->signature = signature;
    made->first = who;
    made->chunking = spec_.plan.chunking(signature.count, datatype_bytes(signature.datatype));
    made->left = chunks_here(made->chunking.chunks);
    calls_.push_back(std::move(made));
    return calls_.back().get();
  }
  if (!call->aborted() && call->signature != signature) {
    ++counters_.mismatches;
    abort(sequence, wire::mismatch(who, signature, call->first, call->signature, sequence));
  }
  return call;
}

std::uint64_t ServedGroup::chunks_here(std::uint64_t chunks) const noexcept {
  std::uint64_t count = 0;
  for (std::uint32_t owner : my_owners_) count += spec_.plan.sequence().count_in_prefix(owner, chunks);
  return count;
}

bool ServedGroup::owns(std::uint64_t chunk) const noexcept {
  return spec_.plan.owners[spec_.plan.owner_of(chunk)].rank == options_.self;
}

std::size_t ServedGroup::chunk_bytes(const Call& call, std::uint64_t chunk) const noexcept {
  return call.chunking.elements(chunk, call.signature.count) * datatype_bytes(call.signature.datatype);
}

// Why a push does not fit its call, or nullptr.
const char* ServedGroup::misfit(const Call& call, std::uint64_t chunk, std::size_t bytes) const noexcept {
  if (chunk >= call.chunking.chunks) return "no such chunk";
  if (!owns(chunk)) return "not this rank's chunk";
  if (bytes != chunk_bytes(call, chunk)) return "wrong length";
  return nullptr;
}

ServedGroup::Chunk& ServedGroup::chunk_of(const Call& call, std::uint64_t chunk) {
  std::unique_ptr<Chunk>& state = chunks_[key(call.sequence, chunk)];
  if (!state) {
    state = std::make_unique<Chunk>();
    state->inputs.resize(members());
  }
  return *state;
}

void ServedGroup::on_push(std::uint32_t member, const wire::Header& header, ConstBytes payload) noexcept {
  if (header.plan != spec_.plan.number) return reject(member, header, "unknown plan");
  if (is_over(header.sequence)) return reject(member, header, "its call is over");
  if (!failure_.ok()) return tell_abort(member, header.sequence, failure_);
  // A member that joined after the call was aborted has not been told.
  if (const Call* known = find_call(header.sequence); known != nullptr && known->aborted())
    return tell_abort(member, header.sequence, known->failure);
  Call* call = call_of(header.sequence, header.signature, spec_.members[member]);
  if (call->aborted()) return;
  if (const char* why = misfit(*call, header.chunk, payload.size())) return reject(member, header, why);
  Chunk& chunk = chunk_of(*call, header.chunk);
  if (chunk.inputs[member] != nullptr) return reject(member, header, "a duplicate");
  ++counters_.pushes;
  if (chunk.arrived + 1 == remote_members_ && local_ready(*call))
    return complete(*call, header.chunk, chunk, member, payload);
  if (!store(chunk, member, payload)) abort(header.sequence, {Code::no_memory, "no memory for a chunk", options_.self});
}

bool ServedGroup::store(Chunk& chunk, std::uint32_t member, ConstBytes payload) noexcept {
  ChunkBuffer* slot = pool_.take();
  if (slot == nullptr) return false;
  std::memcpy(slot->data(), payload.data(), payload.size());
  chunk.inputs[member] = slot;
  ++chunk.arrived;
  ++waiting_buffers_;
  return true;
}

void ServedGroup::complete(Call& call, std::uint64_t chunk, Chunk& state, std::uint32_t last_member,
                           ConstBytes last) noexcept {
  const std::uint32_t sequence = call.sequence;
  if (options_.threads > 1) {
    if (last_member == nobody || store(state, last_member, last)) {
      ready_.emplace_back(sequence, chunk);
      return;
    }
  } else if (begin_sum(call, chunk, state, &sum_)) {
    if (last_member != nobody) sum_.inputs[last_member] = last.data();
    evaluate(sum_);
    return end_sum(sum_);
  }
  abort(sequence, {Code::no_memory, "no memory for a chunk", options_.self});
}

void ServedGroup::sum_ready() noexcept {
  std::vector<Sum> sums;
  for (const auto& [sequence, chunk] : std::exchange(ready_, {})) {
    const auto state = chunks_.find(key(sequence, chunk));
    if (state == chunks_.end()) continue;  // its call has failed
    sums.emplace_back();
    if (begin_sum(*find_call(sequence), chunk, *state->second, &sums.back())) continue;
    sums.pop_back();
    abort(sequence, {Code::no_memory, "no memory for a chunk", options_.self});
  }
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(options_.threads)) if (sums.size() > 1)
#endif
  for (std::size_t i = 0; i < sums.size(); ++i) evaluate(sums[i]);
  for (const Sum& sum : sums) end_sum(sum);
}

// False where there is no memory for the result.
bool ServedGroup::begin_sum(const Call& call, std::uint64_t chunk, const Chunk& state, Sum* sum) noexcept {
  sum->result = pool_.take();
  if (sum->result == nullptr) return false;
  sum->sequence = call.sequence;
  sum->chunk = chunk;
  sum->signature = call.signature;
  sum->bytes = chunk_bytes(call, chunk);
  sum->inputs.resize(members());
  for (std::uint32_t m = 0; m < members(); ++m)
    sum->inputs[m] = state.inputs[m] == nullptr ? nullptr : state.inputs[m]->data();
  const std::size_t offset = call.chunking.first_element(chunk) * datatype_bytes(call.signature.datatype);
  if (local_member_) sum->inputs[*local_member_] = call.local->input + offset;
  return true;
}

void ServedGroup::evaluate(const Sum& sum) const noexcept {
  const wire::Signature& signature = sum.signature;
  tree_.evaluate(signature.datatype, signature.op, sum.inputs.data(), sum.result->data(),
                 sum.bytes / datatype_bytes(signature.datatype));
}

void ServedGroup::end_sum(const Sum& sum) noexcept {
  const auto state = chunks_.find(key(sum.sequence, sum.chunk));
  Call* call = find_call(sum.sequence);
  if (state != chunks_.end() && call != nullptr && !call->aborted()) {
    ++counters_.chunks;
    discard(*state->second);
    chunks_.erase(state);
    --call->left;
    if (call->local != nullptr) call->local->on_chunk_summed(sum.chunk, {sum.result->data(), sum.bytes});
    send_result(sum);
    if (call->left == 0) end_call(sum.sequence);
  }
  sum.result->drop_reference();
}

// Each chunk's results start with another member, so that no member's port gets the results of all owners at once.
void ServedGroup::send_result(const Sum& sum) noexcept {
  wire::Header header;
  header.type = wire::MessageType::result;
  header.plan = spec_.plan.number;
  header.sequence = sum.sequence;
  header.chunk = static_cast<std::uint32_t>(sum.chunk);
  header.signature = sum.signature;
  for (std::uint32_t i = 0; i < members(); ++i) {
    const auto member = static_cast<std::uint32_t>((sum.chunk + i) % members());
    if (members_[member].state != MemberState::joined || member == local_member_) continue;
    header.handle = members_[member].reply_handle;
    sum.result->add_reference();
    const ConstBytes payload(sum.result->data(), sum.bytes);
    if (!outbox_.send(spec_.members[member], header, payload, sum.result).ok()) sum.result->drop_reference();
  }
}

void ServedGroup::discard(Chunk& state) noexcept {
  for (ChunkBuffer*& slot : state.inputs) {
    if (slot == nullptr) continue;
    slot->drop_reference();
    slot = nullptr;
    --waiting_buffers_;
  }
}

void ServedGroup::discard_chunks(std::uint32_t sequence) noexcept {
  std::erase_if(chunks_, [&](auto& entry) {
    if (entry.first >> 32 != sequence) return false;
    discard(*entry.second);
    return true;
  });
}

// A call that had failed, or that the others have gone past: their call of this number did not come here.
void ServedGroup::give_up(Call& call) noexcept {
  discard_chunks(call.sequence);
  if (LocalCall* local = std::exchange(call.local, nullptr))
    local->on_aborted({Code::mismatch,
                       "rank " + std::to_string(options_.self) + ": its call " + std::to_string(call.sequence) +
                           " is not that of the workers, who have gone on without it",
                       options_.self});
}

// Once a call is over here, so are all before it: a member starts a call only when the one before has ended.
void ServedGroup::end_call(std::uint32_t sequence) noexcept {
  over_through_ = sequence;
  std::erase_if(calls_, [&](const auto& call) {
    if (!is_over(call->sequence)) return false;
    if (call->sequence != sequence) give_up(*call);
    return true;
  });
}

Status ServedGroup::post(LocalCall& local, std::uint64_t* chunks_left) {
  HPS_RETURN_IF_ERROR(failure_);
  if (is_over(local.sequence)) {
    *chunks_left = 0;
    return {};
  }
  Call* call = call_of(local.sequence, local.signature, options_.self);
  HPS_RETURN_IF_ERROR(call->failure);
  if (call->left == 0) {
    *chunks_left = 0;
    end_call(local.sequence);
    return {};
  }
  *chunks_left = call->left;
  call->local = &local;
  if (local_member_) take_complete_chunks(*call);
  return {};
}

// After the local contribution has come: the chunks that waited for it alone.
void ServedGroup::take_complete_chunks(Call& call) noexcept {
  std::vector<std::uint64_t> found;
  for (const auto& [id, chunk] : chunks_) {
    if (id >> 32 == call.sequence && chunk->arrived == remote_members_) found.push_back(id & UINT32_MAX);
  }
  std::sort(found.begin(), found.end());
  const std::uint32_t sequence = call.sequence;
  for (std::uint64_t chunk : found) {
    Call* still = find_call(sequence);
    if (still == nullptr || still->aborted()) return;
    complete(*still, chunk, *chunks_[key(sequence, chunk)], nobody, {});
  }
}

void ServedGroup::withdraw(const LocalCall& local) noexcept {
  if (Call* call = find_call(local.sequence); call != nullptr && call->local == &local) call->local = nullptr;
}

void ServedGroup::abort(std::uint32_t sequence, const Status& why) noexcept {
  Call* call = find_call(sequence);
  if (call == nullptr || call->aborted()) return;
  call->failure = why;
  discard_chunks(sequence);
  if (LocalCall* local = std::exchange(call->local, nullptr)) local->on_aborted(why);
  tell_abort(sequence, why);
}

void ServedGroup::cancel(std::uint32_t sequence, const Status& why) noexcept {
  if (is_over(sequence)) return;
  Call* call = find_call(sequence);
  if (call == nullptr) {
    calls_.push_back(std::make_unique<Call>());
    call = calls_.back().get();
    call->sequence = sequence;
  }
  if (call->aborted()) return;
  call->failure = why;
  discard_chunks(sequence);
  if (LocalCall* local = std::exchange(call->local, nullptr)) local->on_aborted(why);
}

void ServedGroup::tell_abort(std::uint32_t sequence, const Status& why) noexcept {
  for (std::uint32_t m = 0; m < members(); ++m) {
    if (members_[m].state == MemberState::joined && m != local_member_) tell_abort(m, sequence, why);
  }
}

void ServedGroup::tell_abort(std::uint32_t member, std::uint32_t sequence, const Status& why) noexcept {
  wire::Header header;
  header.type = wire::MessageType::abort;
  header.plan = spec_.plan.number;
  header.sequence = sequence;
  header.handle = members_[member].reply_handle;
  if (!outbox_.send_copy(spec_.members[member], header, wire::encode_abort(why)).ok())
    options_.log.debug("could not tell rank " + std::to_string(spec_.members[member]) + " of an aborted call");
}

void ServedGroup::fail(const Status& why) noexcept {
  if (!failure_.ok()) return;
  failure_ = why;
  std::vector<std::uint32_t> sequences;
  for (const auto& call : calls_) sequences.push_back(call->sequence);
  for (std::uint32_t sequence : sequences) abort(sequence, why);
}

}  // namespace hps
