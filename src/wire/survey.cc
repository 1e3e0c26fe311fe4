// SPDX-License-Identifier: BSD-3-Clause
#include "wire/survey.h"

#include "wire/codec.h"

namespace hps::wire {

std::vector<std::byte> encode(const MeasureOrder& order) {
  Writer out;
  out.put(order.to);
  out.put(order.messages);
  out.put(order.message_bytes);
  return out.take();
}

std::vector<std::byte> encode(const TrainHead& head) {
  Writer out;
  out.put(head.leader);
  out.put(head.messages);
  return out.take();
}

std::vector<std::byte> encode(const Measured& measured) {
  Writer out;
  out.put(measured.from);
  out.put(measured.bytes);
  out.put(measured.ns);
  return out.take();
}

bool decode(ConstBytes bytes, MeasureOrder* order) {
  Reader in(bytes);
  MeasureOrder result;
  result.to = in.get<Rank>();
  result.messages = in.get<std::uint32_t>();
  result.message_bytes = in.get<std::uint32_t>();
  if (!in.at_end() || result.messages > most_train_messages || result.message_bytes < train_head_bytes ||
      result.message_bytes > longest_train_message)
    return false;
  *order = result;
  return true;
}

bool decode(ConstBytes bytes, TrainHead* head) {
  Reader in(bytes);
  TrainHead result;
  result.leader = in.get<Rank>();
  result.messages = in.get<std::uint32_t>();
  if (!in.ok() || result.messages == 0 || result.messages > most_train_messages) return false;
  *head = result;
  return true;
}

bool decode(ConstBytes bytes, Measured* measured) {
  Reader in(bytes);
  Measured result;
  result.from = in.get<Rank>();
  result.bytes = in.get<std::uint64_t>();
  result.ns = in.get<std::int64_t>();
  if (!in.at_end() || result.ns < 0) return false;
  *measured = result;
  return true;
}

}  // namespace hps::wire
