// SPDX-License-Identifier: BSD-3-Clause
// The payloads of measure, train and measured. The header's handle names the group of whoever gave the order, its
// sequence the order.
#ifndef HPS_SRC_WIRE_SURVEY_H
#define HPS_SRC_WIRE_SURVEY_H

#include <cstdint>
#include <vector>

#include "util/types.h"

namespace hps::wire {

// Send `messages` messages of `message_bytes` bytes to rank `to`, without a pause.
struct MeasureOrder {
  Rank to = no_rank;
  std::uint32_t messages = 0;
  std::uint32_t message_bytes = 0;
};
inline constexpr std::uint32_t most_train_messages = 1024;
inline constexpr std::uint32_t longest_train_message = 1u << 16;

// What each message of a train begins with.
struct TrainHead {
  Rank leader = no_rank;  // who is told
  std::uint32_t messages = 0;
};
inline constexpr std::size_t train_head_bytes = 8;

// How a train arrived, but for its beginning.
struct Measured {
  Rank from = no_rank;
  std::uint64_t bytes = 0;
  std::int64_t ns = 0;
};

std::vector<std::byte> encode(const MeasureOrder& order);
std::vector<std::byte> encode(const TrainHead& head);
std::vector<std::byte> encode(const Measured& measured);

// False, and the output as it was, where the bytes are not whole or a value is out of range.
bool decode(ConstBytes bytes, MeasureOrder* order);
bool decode(ConstBytes bytes, TrainHead* head);
bool decode(ConstBytes bytes, Measured* measured);

}  // namespace hps::wire

#endif
