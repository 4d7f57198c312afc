// SPDX-License-Identifier: Apache-2.0
// .npy files made byte by byte from the format's description, and what is refused.
#include "session/npy.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

namespace warplens::session {
namespace {

using namespace std::string_literals;

/// A file of version `major`: magic, version, length (2 bytes, or 4 from version 2), header, elements.
std::string npy(int major, const std::string& header, const std::string& elements) {
  std::string text = "\x93NUMPY"s + static_cast<char>(major) + '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) text += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return text + header + elements;
}

std::string header(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::string refusal(const std::string& file) {
  const auto array = parse_npy(file, "x.npy");
  if (array) return "accepted";
  EXPECT_EQ(array.error().size(), 1u);
  return array.error()[0].message + " / " + array.error()[0].hint;
}

void expect_refused(const std::string& file, const std::string& why) {
  const std::string said = refusal(file);
  EXPECT_NE(said.find("x.npy"), std::string::npos) << said;
  EXPECT_NE(said.find(why), std::string::npos) << said;
}

TEST(Npy, reads_each_version) {
  const std::string two = "\0\0\x80\x3f\0\0\0\xc0"s;  // 1.0f, -2.0f
  for (int major = 1; major <= 3; ++major) {
    const auto array = parse_npy(npy(major, header("<f4", "(2,)"), two), "x.npy");
    ASSERT_TRUE(array.has_value()) << major;
    EXPECT_EQ(array->type, ElementType::kF32);
    EXPECT_EQ(array->shape, std::vector<uint64_t>{2});
    EXPECT_EQ(value_of(array->type, array->bytes.data()), 1.0);
    EXPECT_EQ(value_of(array->type, array->bytes.data() + 4), -2.0);
  }
}

TEST(Npy, reads_every_type) {
  const std::pair<const char*, ElementType> kTypes[] = {
      {"|b1", ElementType::kBool}, {"|i1", ElementType::kI8},  {"<i2", ElementType::kI16}, {"<i4", ElementType::kI32},
      {"<i8", ElementType::kI64},  {"|u1", ElementType::kU8},  {"<u2", ElementType::kU16}, {"<u4", ElementType::kU32},
      {"<u8", ElementType::kU64},  {"<f2", ElementType::kF16}, {"<f4", ElementType::kF32}, {"<f8", ElementType::kF64},
      {"<V2", ElementType::kBF16}, {"|V2", ElementType::kBF16}};
  for (const auto& [descr, type] : kTypes) {
    const auto array = parse_npy(npy(1, header(descr, "(1,)"), std::string(bytes_of(type), '\1')), "x.npy");
    ASSERT_TRUE(array.has_value()) << descr;
    EXPECT_EQ(array->type, type) << descr;
  }
}

TEST(Npy, shapes_and_spelling) {
  EXPECT_EQ(parse_npy(npy(1, header("|u1", "(2, 3)"), "123456"), "x")->shape, (std::vector<uint64_t>{2, 3}));
  EXPECT_TRUE(parse_npy(npy(1, header("|u1", "()"), "1"), "x")->shape.empty());
  EXPECT_EQ(parse_npy(npy(1, header("|u1", "(0, 4)"), ""), "x")->bytes.size(), 0u);
  EXPECT_EQ(parse_npy(npy(1, header("|u1", "(3L,)"), "123"), "x")->shape, std::vector<uint64_t>{3});
  const std::string other = "{\"shape\":(1,),\"fortran_order\":False,\"descr\":\"|u1\"}      \n";
  EXPECT_TRUE(parse_npy(npy(1, other, "1"), "x").has_value());
  // One column or row is the same in both orders.
  EXPECT_TRUE(parse_npy(npy(1, header("|u1", "(3, 1)", "True"), "123"), "x").has_value());
}

TEST(Npy, refuses_what_a_kernel_cannot_use_and_says_what_to_do) {
  expect_refused(npy(1, header("<f4", "(2, 2)", "True"), std::string(16, '\0')), "numpy.ascontiguousarray");
  expect_refused(npy(1, header(">f4", "(2,)"), std::string(8, '\0')), "x.astype('<f4')");
  expect_refused(npy(1, header("<c8", "(2,)"), std::string(16, '\0')), "complex");
  expect_refused(npy(1, header("|O", "(2,)"), "pickle"), "Python objects");
  expect_refused(npy(1, header("<U5", "(2,)"), std::string(40, '\0')), "'<U5' cannot be used");
  expect_refused(npy(1, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", "1234"), "structures");
}

TEST(Npy, refuses_damaged_files) {
  const std::string whole = npy(1, header("<f4", "(2,)"), std::string(8, '\0'));
  expect_refused(whole.substr(0, whole.size() - 1), "truncated: 7 bytes of elements, f32[2] needs 8");
  for (size_t size = 6; size < whole.size() - 8; ++size) expect_refused(whole.substr(0, size), "truncated");
  for (size_t size = 0; size < 6; ++size) expect_refused(whole.substr(0, size), "no .npy file");
  expect_refused(whole + "x", "1 bytes more");
  expect_refused(npy(9, header("<f4", "(2,)"), ""), "version 9.0");
  expect_refused("PK\3\4", ".npz holds several arrays");
  expect_refused(npy(1, "{'descr': '<f4'}\n", ""), "header");
  expect_refused(npy(1, "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }\n", ""), "header");
  expect_refused(npy(1, header("<f4", "(2"), ""), "header");
  expect_refused(npy(1, header("<f4", "(-2,)"), ""), "header");
  expect_refused(npy(1, header("<f4", "(2,) junk"), ""), "header");
  // Products that overflow 64 bits.
  expect_refused(npy(1, header("<f8", "(4294967296, 4294967296, 2)"), ""), "too large");
  expect_refused(npy(1, header("<f8", "(99999999999999999999999,)"), ""), "header");
}

TEST(Npy, writes_what_numpy_writes) {
  Array array{ElementType::kI32, {3, 4}, std::vector<uint8_t>(48, 7)};
  const std::string text = npy_text(array);
  EXPECT_EQ(text.substr(0, 8), "\x93NUMPY\1\0"s);
  EXPECT_EQ(text.size(), 128u + 48);  // numpy pads the head of such a file to 128 bytes
  EXPECT_EQ(text.substr(8, 2), "\x76\0"s);
  EXPECT_EQ(text.substr(10, 60), "{'descr': '<i4', 'fortran_order': False, 'shape': (3, 4), } ");
  EXPECT_EQ(text[127], '\n');
  EXPECT_NE(npy_text({ElementType::kF32, {5}, std::vector<uint8_t>(20)}).find("'shape': (5,), }"), std::string::npos);
  EXPECT_NE(npy_text({ElementType::kF32, {}, std::vector<uint8_t>(4)}).find("'shape': (), }"), std::string::npos);
  for (const std::vector<uint64_t>& shape : {std::vector<uint64_t>{}, {12}, {0}, {2, 3, 2}}) {
    const uint64_t count = *count_of(ElementType::kF64, shape);
    const auto again = parse_npy(npy_text({ElementType::kF64, shape, std::vector<uint8_t>(count * 8, 9)}), "x");
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->shape, shape);
    EXPECT_EQ(again->bytes, std::vector<uint8_t>(count * 8, 9));
  }
}

}  // namespace
}  // namespace warplens::session
