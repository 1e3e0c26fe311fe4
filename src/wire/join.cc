// SPDX-License-Identifier: BSD-3-Clause
#include "wire/join.h"

#include <utility>

#include "wire/codec.h"

namespace hps::wire {

std::vector<std::byte> encode(const Join& join) {
  Writer out;
  out.put(join.id.root);
  out.put(join.id.counter);
  out.put(join.id.plan);
  out.put(join.member);
  out.put(join.reply_handle);
  out.put(join.spec_hash);
  std::vector<std::byte> bytes = out.take();
  bytes.insert(bytes.end(), join.spec.begin(), join.spec.end());
  return bytes;
}

bool decode(ConstBytes bytes, Join* join) {
  Reader in(bytes);
  Join result;
  result.id.root = in.get<Rank>();
  result.id.counter = in.get<std::uint32_t>();
  result.id.plan = in.get<std::uint16_t>();
  result.member = in.get<std::uint32_t>();
  result.reply_handle = in.get<std::uint32_t>();
  result.spec_hash = in.get<std::uint64_t>();
  if (!in.ok()) return false;
  result.spec.assign(in.rest().begin(), in.rest().end());
  *join = std::move(result);
  return true;
}

std::vector<std::byte> encode(const JoinReply& reply) {
  Writer out;
  out.put(reply.handle);
  out.put(reply.credits);
  out.put(reply.owner);
  out.put_text(reply.error);
  return out.take();
}

bool decode(ConstBytes bytes, JoinReply* reply) {
  Reader in(bytes);
  JoinReply result;
  result.handle = in.get<std::uint32_t>();
  result.credits = in.get<std::uint32_t>();
  result.owner = in.get<Rank>();
  result.error = in.get_text();
  if (!in.at_end()) return false;
  *reply = std::move(result);
  return true;
}

}  // namespace hps::wire
