// SPDX-License-Identifier: BSD-3-Clause
#include "wire/header.h"

#include <gtest/gtest.h>

namespace hps::wire {
namespace {

Header example() {
  Header header;
  header.type = MessageType::result;
  header.plan = 0x1234;
  header.token = 0x89abcdef;
  header.handle = 7;
  header.sequence = 0xfffffff0;
  header.chunk = 99;
  header.signature = {Collective::allreduce_hetero, Datatype::int16, Op::max, 0x123456789abcull};
  return header;
}

TEST(HeaderTest, ComesBackAsItWas) {
  Header decoded;
  ASSERT_TRUE(decode(encode(example()), &decoded));
  EXPECT_EQ(decoded, example());
}

TEST(HeaderTest, HasTheDocumentedLayout) {
  const HeaderBytes bytes = encode(example());
  EXPECT_EQ(bytes[0], std::byte{version});
  EXPECT_EQ(bytes[6], std::byte{0x34});
  EXPECT_EQ(bytes[8], std::byte{0xef});
  EXPECT_EQ(bytes[12], std::byte{7});
  EXPECT_EQ(bytes[16], std::byte{0xf0});
  EXPECT_EQ(bytes[20], std::byte{99});
  EXPECT_EQ(bytes[24], std::byte{0xbc});
}

TEST(HeaderTest, RejectsOtherLengths) {
  const HeaderBytes bytes = encode(example());
  std::vector<std::byte> longer(bytes.begin(), bytes.end());
  longer.push_back({});
  Header header;
  EXPECT_FALSE(decode(longer, &header));
  EXPECT_FALSE(decode(ConstBytes(bytes).first(header_bytes - 1), &header));
  EXPECT_FALSE(decode({}, &header));
  EXPECT_EQ(header, Header());
}

// Every value of every byte that has a range: accepted exactly when it is in it, and operations where they are defined.
TEST(HeaderTest, RejectsValuesOutOfRange) {
  struct Field {
    std::size_t place;
    unsigned end;
  };
  for (const Field field :
       {Field{1, message_types}, Field{2, collectives}, Field{3, datatype_count}, Field{4, op_count}, Field{5, 2}}) {
    for (unsigned value = 0; value < 256; ++value) {
      HeaderBytes bytes = encode(example());
      bytes[field.place] = static_cast<std::byte>(value);
      Header header;
      const bool in_range = value < field.end;
      const auto datatype = field.place == 3 && in_range ? static_cast<Datatype>(value) : example().signature.datatype;
      const auto op = field.place == 4 && in_range ? static_cast<Op>(value) : example().signature.op;
      EXPECT_EQ(decode(bytes, &header), in_range && op_supports(op, datatype))
          << "byte " << field.place << " = " << value;
    }
  }
  HeaderBytes bytes = encode(example());
  bytes[0] = std::byte{version + 1};
  Header header;
  EXPECT_FALSE(decode(bytes, &header));
}

TEST(SignatureTest, DifferencesAreToldInWords) {
  const Signature mine{Collective::allreduce_hetero, Datatype::float32, Op::sum, 100};
  Signature other = mine;
  other.count = 101;
  EXPECT_EQ(difference(mine, other), "count 100 differs from 101");
  other = mine;
  other.datatype = Datatype::int8;
  EXPECT_EQ(difference(mine, other), "datatype float32 differs from int8");
  other = mine;
  other.op = Op::max;
  EXPECT_EQ(difference(mine, other), "operation sum differs from max");
  const Status status = mismatch(3, mine, 0, other, 5);
  EXPECT_EQ(status.code(), Code::mismatch);
  EXPECT_EQ(status.who(), 3);
  EXPECT_EQ(status.text(), "rank 3: operation sum differs from max on rank 0 in HPS_Allreduce_hetero, call 5");
}

}  // namespace
}  // namespace hps::wire
