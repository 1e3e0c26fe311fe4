// SPDX-License-Identifier: BSD-3-Clause
// Every decoder of src/wire on any bytes: it does not crash, it takes no more memory than a small multiple of what it
// was given, and what it accepts is encoded to bytes that mean the same. The first byte of the input chooses the
// decoder.
#include <vector>

#include "fuzz/byte_source.h"
#include "fuzz/heap_meter.h"
#include "fuzz/target.h"
#include "plan/sequence.h"
#include "wire/abort.h"
#include "wire/group_spec.h"
#include "wire/header.h"
#include "wire/join.h"
#include "wire/survey.h"

namespace hps::fuzz {
namespace {

// A list of n bytes may describe n/4 empty lists of 24 bytes each, and vectors that grow hold twice that for a moment.
constexpr std::int64_t bytes_a_byte = 32;
constexpr std::int64_t bytes_for_texts = 4096;
// A plan's chunk sequence is as long as its weights say, whatever its description's length; what it takes to build one
// of the greatest length.
constexpr std::int64_t bytes_for_sequence = std::int64_t{ChunkSequence::max_period} * 40;

template <class Decode>
void measure(ConstBytes bytes, std::int64_t besides, const Decode& decode) {
  reset_heap_peak();
  const std::int64_t before = heap_bytes();
  decode();
  const std::int64_t taken = heap_peak_bytes() - before;
  const std::int64_t most = static_cast<std::int64_t>(bytes.size()) * bytes_a_byte + besides;
  require(taken <= most, "decoding " + std::to_string(bytes.size()) + " bytes took " + std::to_string(taken));
}

bool equal(ConstBytes left, ConstBytes right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

void try_header(ConstBytes bytes) {
  wire::Header header;
  header.token = 0x12345678;
  const wire::Header untouched = header;
  const bool accepted = wire::decode(bytes, &header);
  if (!accepted) return require(header == untouched, "a header that was refused was written");
  require(equal(wire::encode(header), bytes), "a header does not encode to the bytes that it came from");
}

void try_join(ConstBytes bytes) {
  wire::Join join;
  bool accepted = false;
  measure(bytes, bytes_for_texts, [&] { accepted = wire::decode(bytes, &join); });
  if (accepted) require(equal(wire::encode(join), bytes), "a join does not encode to the bytes that it came from");
}

void try_join_reply(ConstBytes bytes) {
  wire::JoinReply reply;
  bool accepted = false;
  measure(bytes, bytes_for_texts, [&] { accepted = wire::decode(bytes, &reply); });
  if (accepted) require(equal(wire::encode(reply), bytes), "a reply does not encode to the bytes that it came from");
}

template <class Message>
void try_survey(ConstBytes bytes) {
  Message message;
  bool accepted = false;
  measure(bytes, bytes_for_texts, [&] { accepted = wire::decode(bytes, &message); });
  const std::vector<std::byte> again = wire::encode(message);
  require(!accepted || equal(again, bytes.first(again.size())), "a message does not encode to what it came from");
}

void try_abort(ConstBytes bytes) {
  Status why;
  measure(bytes, bytes_for_texts, [&] { why = wire::decode_abort(bytes); });
  require(!why.ok(), "an abort was read as success");
  const Status again = wire::decode_abort(wire::encode_abort(why));
  require(again.code() == why.code() && again.text() == why.text() && again.who() == why.who(),
          "an abort does not come back as it was");
}

// What the rest of HPS counts on in a plan that has been accepted.
void use(const Plan& plan) {
  for (std::uint64_t chunk : {std::uint64_t{0}, std::uint64_t{12345}, UINT64_MAX})
    require(plan.owner_of(chunk) < plan.owners.size(), "a chunk has no owner");
  for (std::size_t element_bytes : {1u, 4u, 32u}) {
    for (std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40, UINT64_MAX}) {
      const Chunking chunking = plan.chunking(count, element_bytes);
      require(chunking.elements_per_chunk > 0, "chunks without elements");
      require(chunking.elements_per_chunk * element_bytes <= plan.chunk_bytes, "chunks longer than the plan allows");
    }
  }
  for (std::uint64_t step : {0u, 5u, 99u}) require(plan.chunk_at(step, 100, 1, 2) < 100, "a step without a chunk");
}

void try_group_spec(ConstBytes bytes) {
  wire::GroupSpec spec;
  bool accepted = false;
  measure(bytes, bytes_for_sequence, [&] { accepted = wire::decode(bytes, &spec).ok(); });
  if (!accepted) return require(spec.members.empty(), "a group description that was refused was written");
  use(spec.plan);
  wire::GroupSpec again;
  require(wire::decode(wire::encode(spec), &again).ok(), "an accepted group description is refused when sent on");
  require(
      again.id == spec.id && again.members == spec.members && again.layout == spec.layout && again.plan == spec.plan,
      "a group description does not come back as it was");
}

}  // namespace
}  // namespace hps::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hps::fuzz;
  if (size == 0) return 0;
  const hps::ConstBytes bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  static constexpr void (*decoders[])(hps::ConstBytes) = {try_header,
                                                          try_join,
                                                          try_join_reply,
                                                          try_abort,
                                                          try_group_spec,
                                                          try_survey<hps::wire::MeasureOrder>,
                                                          try_survey<hps::wire::TrainHead>,
                                                          try_survey<hps::wire::Measured>};
  decoders[data[0] % std::size(decoders)](bytes);
  return 0;
}
