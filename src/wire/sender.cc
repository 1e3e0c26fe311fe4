// SPDX-License-Identifier: BSD-3-Clause
#include "wire/sender.h"

#include "wire/codec.h"

namespace hps::wire {

std::vector<std::byte> encode(const Sender& sender) {
  Writer out;
  out.put(sender.rank);
  out.put(sender.handle);
  return out.take();
}

bool decode(ConstBytes bytes, Sender* sender) {
  Reader in(bytes);
  Sender result;
  result.rank = in.get<Rank>();
  result.handle = in.get<std::uint32_t>();
  if (!in.at_end()) return false;
  *sender = result;
  return true;
}

}  // namespace hps::wire
