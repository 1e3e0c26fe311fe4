// SPDX-License-Identifier: BSD-3-Clause
#include "wire/abort.h"

#include "wire/codec.h"

namespace hps::wire {

std::vector<std::byte> encode_abort(const Status& why) {
  Writer out;
  out.put(static_cast<std::uint8_t>(why.code()));
  out.put(why.who());
  out.put_text(why.text());
  return out.take();
}

Status decode_abort(ConstBytes bytes) {
  Reader in(bytes);
  const auto code = in.get<std::uint8_t>();
  const auto who = in.get<Rank>();
  const std::string text = in.get_text();
  if (!in.at_end() || code == static_cast<std::uint8_t>(Code::ok) || code >= code_count)
    return {Code::protocol, "an abort message that cannot be read"};
  return {static_cast<Code>(code), text, who};
}

}  // namespace hps::wire
