// SPDX-License-Identifier: BSD-3-Clause
#include "summation/served_group.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <utility>

#include "wire/abort.h"

namespace hps {
namespace {

constexpr std::uint32_t nobody = UINT32_MAX;

std::vector<std::uint32_t> owners_of(const Plan& plan, Rank rank) {
  std::vector<std::uint32_t> owners;
  for (std::uint32_t i = 0; i < plan.owners.size(); ++i) {
    if (plan.owners[i].rank == rank) owners.push_back(i);
  }
  return owners;
}

// Of those that sum at once.
std::uint8_t thread_number() noexcept {
#ifdef _OPENMP
  return static_cast<std::uint8_t>(std::min(omp_get_thread_num(), UINT8_MAX));
#else
  return 0;
#endif
}

}  // namespace

ServedGroup::ServedGroup(wire::GroupSpec spec, const ServiceOptions& options, Outbox& outbox, Counters& counters)
    : spec_(std::move(spec)),
      options_(options),
      outbox_(outbox),
      counters_(counters),
      tree_(spec_.layout),
      my_owners_(owners_of(spec_.plan, options.self)),
      local_member_(index_of(options.self)),
      remote_members_(members() - (local_member_ ? 1 : 0)),
      members_(members()),
      store_(members(), spec_.plan.chunk_bytes),
      calls_(members()) {}

std::optional<std::uint32_t> ServedGroup::index_of(Rank member) const noexcept {
  const auto at = std::find(spec_.members.begin(), spec_.members.end(), member);
  if (at == spec_.members.end()) return std::nullopt;
  return static_cast<std::uint32_t>(at - spec_.members.begin());
}

std::uint32_t ServedGroup::least_credits() const noexcept {
  std::uint32_t credits = 0;
  for (std::uint32_t owner : my_owners_) credits += spec_.plan.least_credits(owner);
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
  return static_cast<std::uint64_t>(remote_members_ + 1) * store_.chunk_bytes();
}

void ServedGroup::join(std::uint32_t member, std::uint32_t reply_handle) {
  if (!is_present(member)) ++present_;
  members_[member] = {MemberState::joined, reply_handle};
}

// The contributions of calls that failed go with the last member.
void ServedGroup::leave(std::uint32_t member) {
  if (has_left(member)) return;
  if (is_present(member)) --present_;
  members_[member].state = MemberState::left;
  if (present_ != 0) return;
  store_.drop_all();
  if (local_member_) return;  // it is told by whoever failed a call, or finds itself alone
  for (std::uint32_t sequence : calls_.sequences()) give_up(*calls_.find(sequence));
}

bool ServedGroup::is_parting() const noexcept {
  return present_ != 0 && std::any_of(members_.begin(), members_.end(),
                                      [](const Member& member) { return member.state == MemberState::left; });
}

bool ServedGroup::is_deserted() const noexcept {
  for (std::uint32_t member = 0; member < members(); ++member) {
    if (member != local_member_ && !has_left(member)) return false;
  }
  return true;
}

void ServedGroup::revoke() {
  ++counters_.revoked;
  store_.drop_all();
  ready_.clear();
  for (Member& member : members_) {
    if (member.state == MemberState::joined) member.state = MemberState::revoked;
  }
  credits_ = 0;
}

void ServedGroup::reject(std::uint32_t member, const wire::Header& header, const Misfit& misfit) {
  counters_.reject(misfit.reason);
  if (!options_.log.enabled(LogLevel::debug)) return;
  options_.log.debug("rejected a message of rank " + std::to_string(spec_.members[member]) + ", call " +
                     std::to_string(header.sequence) + ", chunk " + std::to_string(header.chunk) + ": " + misfit.why);
}

const Status* ServedGroup::failure_of(std::uint32_t sequence) const noexcept {
  return failure_.ok() ? calls_.failure(sequence) : &failure_;
}

// The call of this number, made where this is the first to be heard of it; nullptr where it has nothing to do here, or
// where too many are under way.
ServedCall* ServedGroup::call_of(std::uint32_t sequence, const wire::Signature& signature, Rank who) {
  if (ServedCall* known = calls_.find(sequence)) return known;
  const Chunking chunking = spec_.plan.chunking(signature.count, datatype_bytes(signature.datatype));
  const std::uint64_t chunks = chunks_here(chunking.chunks);
  ServedCall* call = chunks == 0 ? nullptr : calls_.add(sequence);
  if (call == nullptr) return nullptr;
  call->signature = signature;
  call->first = who;
  call->chunking = chunking;
  call->left = chunks;
  return call;
}

// A signature that differs from the first one aborts the call.
bool ServedGroup::disagrees(const ServedCall& call, const wire::Signature& signature, Rank who) {
  if (call.signature == signature) return false;
  ++counters_.mismatches;
  abort(call.sequence, wire::mismatch(who, signature, call.first, call.signature, call.sequence));
  return true;
}

std::uint64_t ServedGroup::chunks_here(std::uint64_t chunks) const noexcept {
  std::uint64_t count = 0;
  for (std::uint32_t owner : my_owners_) count += spec_.plan.sequence().count_in_prefix(owner, chunks);
  return count;
}

bool ServedGroup::owns(std::uint64_t chunk) const noexcept {
  return spec_.plan.owners[spec_.plan.owner_of(chunk)].rank == options_.self;
}

// Why a push does not fit its call, if it does not. One to a chunk that has been summed may be sent again by a member
// whose leave to push was revoked while the result was on its way.
ServedGroup::Misfit ServedGroup::misfit(const ServedCall& call, std::uint32_t member, std::uint64_t chunk,
                                        std::size_t bytes) noexcept {
  if (chunk >= call.chunking.chunks) return {Rejection::unknown_chunk, "no such chunk"};
  if (!owns(chunk)) return {Rejection::unknown_chunk, "not this rank's chunk"};
  if (bytes != call.chunk_bytes(chunk)) return {Rejection::malformed, "wrong length"};
  if (call.summed.contains(chunk)) return {Rejection::late, "its chunk has been summed"};
  const ChunkStore::Chunk* waiting = store_.find(call.sequence, chunk);
  if (waiting != nullptr && waiting->inputs[member] != nullptr) return {Rejection::duplicate, "a duplicate"};
  if (store_.waiting(member) >= credits_) return {Rejection::too_many, "more than its credits"};
  return {};
}

void ServedGroup::on_push(std::uint32_t member, const wire::Header& header, ConstBytes payload) {
  if (!has_joined(member)) return reject(member, header, {Rejection::late, "its leave to push was revoked"});
  if (header.plan != spec_.plan.number) return reject(member, header, {Rejection::unknown_plan, "unknown plan"});
  if (calls_.is_over(header.sequence)) return reject(member, header, {Rejection::late, "its call is over"});
  // A member that joined after the call was aborted has not been told.
  if (const Status* failure = failure_of(header.sequence)) return tell_abort(member, header.sequence, *failure);
  ServedCall* call = call_of(header.sequence, header.signature, spec_.members[member]);
  if (call == nullptr)
    return reject(member, header, {Rejection::unexpected, "no chunk of its call is here, or too many are under way"});
  if (disagrees(*call, header.signature, spec_.members[member])) return;
  const Misfit wrong = misfit(*call, member, header.chunk, payload.size());
  if (wrong.reason != Rejection::none) return reject(member, header, wrong);
  call->renews |= header.renews;
  ChunkStore::Chunk& chunk = store_.at(header.sequence, header.chunk);
  ++counters_.pushes;
  if (chunk.arrived + 1 == remote_members_ && local_ready(*call))
    return complete(*call, header.chunk, chunk, member, payload);
  if (!store_.put(chunk, member, payload)) no_memory(header.sequence);
}

void ServedGroup::complete(ServedCall& call, std::uint64_t chunk, ChunkStore::Chunk& state, std::uint32_t last_member,
                           ConstBytes last) {
  const std::uint32_t sequence = call.sequence;
  if (options_.threads > 1) {
    if (last_member == nobody || store_.put(state, last_member, last)) {
      ready_.emplace_back(sequence, chunk);
      return;
    }
  } else if (begin_sum(call, chunk, state, &sum_)) {
    if (last_member != nobody) sum_.inputs[last_member] = last.data();
    evaluate(sum_);
    return end_sum(sum_);
  }
  no_memory(sequence);
}

void ServedGroup::sum_ready() {
  std::vector<Sum> sums;
  for (const auto& [sequence, chunk] : std::exchange(ready_, {})) {
    const ChunkStore::Chunk* state = store_.find(sequence, chunk);
    if (state == nullptr || !local_ready(*calls_.find(sequence))) continue;  // its call has failed
    sums.emplace_back();
    if (begin_sum(*calls_.find(sequence), chunk, *state, &sums.back())) continue;
    sums.pop_back();
    no_memory(sequence);
  }
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(options_.threads)) if (sums.size() > 1)
#endif
  for (std::size_t i = 0; i < sums.size(); ++i) evaluate(sums[i]);
  for (const Sum& sum : sums) end_sum(sum);
}

// False where there is no memory for the result.
bool ServedGroup::begin_sum(const ServedCall& call, std::uint64_t chunk, const ChunkStore::Chunk& state, Sum* sum) {
  sum->inputs.resize(members());
  sum->result = store_.take_result();
  if (sum->result == nullptr) return false;
  sum->sequence = call.sequence;
  sum->chunk = chunk;
  sum->signature = call.signature;
  sum->renews = call.renews;
  sum->bytes = call.chunk_bytes(chunk);
  for (std::uint32_t m = 0; m < members(); ++m)
    sum->inputs[m] = state.inputs[m] == nullptr ? nullptr : state.inputs[m]->data();
  const std::size_t offset = call.chunking.first_element(chunk) * datatype_bytes(call.signature.datatype);
  if (local_member_) sum->inputs[*local_member_] = call.local->input + offset;
  return true;
}

void ServedGroup::evaluate(Sum& sum) const noexcept {
  const wire::Signature& signature = sum.signature;
  if (options_.trace != nullptr) sum.begin_ns = options_.trace->now();
  tree_.evaluate(signature.datatype, signature.op, sum.inputs.data(), sum.result->data(),
                 sum.bytes / datatype_bytes(signature.datatype));
  if (options_.trace == nullptr) return;
  sum.end_ns = options_.trace->now();
  sum.thread = thread_number();
}

// The sum, and that its result is on its way from now until the last of its sends has gone out.
void ServedGroup::note(const Sum& sum) const noexcept {
  TraceSpan span;
  span.stage = TraceStage::sum;
  span.name = "sum";
  span.lane = sum.thread;
  span.group_root = spec_.id.root;
  span.group_counter = spec_.id.counter;
  span.call = sum.sequence;
  span.chunk = sum.chunk;
  span.bytes = sum.bytes;
  span.begin_ns = sum.begin_ns;
  span.end_ns = sum.end_ns;
  options_.trace->add(span);
  span.stage = TraceStage::result;
  span.name = "send results";
  span.lane = 0;
  span.begin_ns = sum.end_ns;
  sum.result->note_end_of(span, *options_.trace);
}

void ServedGroup::end_sum(const Sum& sum) {
  if (ServedCall* call = calls_.find(sum.sequence)) {
    ++counters_.chunks;
    if (options_.trace != nullptr) note(sum);
    store_.drop(sum.sequence, sum.chunk);
    call->summed.add(sum.chunk, [this](std::uint64_t chunk) { return owns(chunk); });
    --call->left;
    if (call->local != nullptr) {
      call->local->renews |= sum.renews;
      call->local->on_chunk_summed(sum.chunk, {sum.result->data(), sum.bytes});
    }
    send_result(sum);
    if (call->left == 0) end_call(sum.sequence);
  }
  sum.result->drop_reference();
}

// Each chunk's results start with another member, so that no member's port gets the results of all owners at once.
void ServedGroup::send_result(const Sum& sum) {
  wire::Header header;
  header.type = wire::MessageType::result;
  header.plan = spec_.plan.number;
  header.sequence = sum.sequence;
  header.chunk = static_cast<std::uint32_t>(sum.chunk);
  header.renews = sum.renews;
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

// A call that the others have gone past: their call of this number did not come here.
void ServedGroup::give_up(ServedCall& call) {
  store_.drop_call(call.sequence);
  if (LocalCall* local = std::exchange(call.local, nullptr))
    local->on_aborted({Code::mismatch,
                       "rank " + std::to_string(options_.self) + ": its call " + std::to_string(call.sequence) +
                           " is not that of the workers, who have gone on without it",
                       options_.self});
}

void ServedGroup::end_call(std::uint32_t sequence) {
  ++counters_.calls;
  for (const auto& call : calls_.end_through(sequence)) give_up(*call);
}

Status ServedGroup::post(LocalCall& local, std::uint64_t* chunks_left) {
  *chunks_left = 0;
  if (calls_.is_over(local.sequence)) return {};
  if (const Status* failure = failure_of(local.sequence)) return *failure;
  ServedCall* call = call_of(local.sequence, local.signature, options_.self);
  if (call == nullptr) return {};  // no chunk of it is here; others' calls are at most one behind, so there is a place
  if (disagrees(*call, local.signature, options_.self)) return *failure_of(local.sequence);
  *chunks_left = call->left;
  call->local = &local;
  call->renews |= local.renews;
  if (local_member_) take_complete_chunks(*call);
  return {};
}

// After the local contribution has come: the chunks that waited for it alone.
void ServedGroup::take_complete_chunks(ServedCall& call) {
  const std::uint32_t sequence = call.sequence;
  for (std::uint64_t chunk : store_.chunks_with(sequence, remote_members_)) {
    ServedCall* still = calls_.find(sequence);
    if (still == nullptr) return;
    complete(*still, chunk, store_.at(sequence, chunk), nobody, {});
  }
}

void ServedGroup::withdraw(const LocalCall& local) noexcept {
  if (ServedCall* call = calls_.find(local.sequence); call != nullptr && call->local == &local) call->local = nullptr;
}

void ServedGroup::abort(std::uint32_t sequence, const Status& why) {
  if (calls_.find(sequence) == nullptr) return;
  cancel(sequence, why);
  for (std::uint32_t m = 0; m < members(); ++m) {
    if (is_present(m) && m != local_member_) tell_abort(m, sequence, why);
  }
}

void ServedGroup::cancel(std::uint32_t sequence, const Status& why) {
  if (calls_.is_over(sequence) || calls_.failure(sequence) != nullptr) return;
  ++counters_.calls;
  store_.drop_call(sequence);
  ServedCall* call = calls_.find(sequence);
  LocalCall* local = call == nullptr ? nullptr : call->local;
  if (!calls_.fail(sequence, why)) counters_.reject(Rejection::too_many);
  if (local != nullptr) local->on_aborted(why);
}

void ServedGroup::tell_abort(std::uint32_t member, std::uint32_t sequence, const Status& why) {
  wire::Header header;
  header.type = wire::MessageType::abort;
  header.plan = spec_.plan.number;
  header.sequence = sequence;
  header.chunk = wire::told_by_owner;
  header.handle = members_[member].reply_handle;
  if (!outbox_.send_copy(spec_.members[member], header, wire::encode_abort(why)).ok())
    options_.log.debug("could not tell rank " + std::to_string(spec_.members[member]) + " of an aborted call");
}

void ServedGroup::fail(const Status& why) {
  if (!failure_.ok()) return;
  failure_ = why;
  for (std::uint32_t sequence : calls_.sequences()) abort(sequence, why);
}

}  // namespace hps
