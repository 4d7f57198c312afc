// SPDX-License-Identifier: Apache-2.0
// What --arg may say, the arrays that it makes, and how two arrays are compared.
#include "session/argument.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "session/comparison.h"

namespace warplens::session {
namespace {

std::vector<double> values(const Array& array) {
  std::vector<double> out;
  for (uint64_t i = 0; i < array.count(); ++i)
    out.push_back(value_of(array.type, array.bytes.data() + i * bytes_of(array.type)));
  return out;
}

std::vector<double> values(const std::string& text) {
  const auto a = parse_argument(text, 1);
  EXPECT_TRUE(a.has_value()) << text;
  return a ? values(a->array) : std::vector<double>();
}

void expect_refused(const std::string& text, const std::string& why) {
  const auto a = parse_argument(text, 3);
  ASSERT_FALSE(a.has_value()) << text;
  const std::string said = render(a.error()[0]);
  EXPECT_NE(said.find("--arg 3 ('" + text + "')"), std::string::npos) << said;
  EXPECT_NE(said.find(why), std::string::npos) << said;
}

template <typename T>
T scalar(const std::string& text) {
  const auto a = parse_argument(text, 1);
  EXPECT_TRUE(a.has_value()) << text;
  EXPECT_EQ(a->bytes.size(), sizeof(T)) << text;
  T value;
  std::memcpy(&value, a->bytes.data(), sizeof value);
  return value;
}

TEST(Argument, scalars_have_the_bits_of_their_type) {
  EXPECT_EQ(scalar<int32_t>("i32:-5"), -5);
  EXPECT_EQ(scalar<int64_t>("i64:-9223372036854775808"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(scalar<uint64_t>("u64:18446744073709551615"), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(scalar<uint8_t>("u8:0xff"), 255);
  EXPECT_EQ(scalar<float>("f32:0.1"), 0.1f);
  EXPECT_EQ(scalar<double>("f64:-1e300"), -1e300);
  EXPECT_EQ(scalar<float>("f32:7"), 7.0f);
  EXPECT_TRUE(std::isinf(scalar<float>("f32:-inf")));
  EXPECT_TRUE(std::isnan(scalar<double>("f64:nan")));
  EXPECT_EQ(scalar<uint16_t>("f16:1.5"), 0x3e00);    // sign 0, exponent 15, fraction 0.5
  EXPECT_EQ(scalar<uint16_t>("f16:65520"), 0x7c00);  // halfway above the largest: infinity
  EXPECT_EQ(scalar<uint16_t>("bf16:-2"), 0xc000);    // the upper half of the float
  EXPECT_EQ(scalar<uint8_t>("bool:true"), 1);
}

TEST(Argument, wrong_scalars_are_explained) {
  expect_refused("i32:2147483648", "does not fit in i32");
  expect_refused("u32:-1", "does not fit in u32");
  expect_refused("i8:128", "does not fit in i8");
  expect_refused("i32:1.5", "not a whole number");
  expect_refused("i32:", "not a whole number");
  expect_refused("u64:18446744073709551616", "not a whole number");
  expect_refused("f32:abc", "not a number");
  expect_refused("bool:2", "neither true nor false");
  expect_refused("float:5", "unknown type 'float'");
  expect_refused("5", "not an argument");
  expect_refused("", "nothing is given");
  expect_refused("out:i32:5", "only arrays can be results");
}

TEST(Argument, arrays_are_filled) {
  EXPECT_EQ(values("f32[3]"), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(values("i16[2,2]=ones"), (std::vector<double>{1, 1, 1, 1}));
  EXPECT_EQ(values("f16[4]=iota"), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(values("u8[2]=arange"), (std::vector<double>{0, 1}));
  EXPECT_EQ(values("bf16[2]=-0.5"), (std::vector<double>{-0.5, -0.5}));
  EXPECT_EQ(values("i64[1]=-7"), std::vector<double>{-7});
  EXPECT_TRUE(std::isnan(values("f32[1]=poison")[0]));
  EXPECT_EQ(values("u16[1]=poison"), std::vector<double>{65535});
  EXPECT_EQ(parse_argument("f32[4,2,8]", 1)->array.shape, (std::vector<uint64_t>{4, 2, 8}));
  EXPECT_TRUE(parse_argument("out:f64[2]", 1)->output);
  EXPECT_TRUE(values("f32[0]").empty());
}

TEST(Argument, random_is_the_documented_generator) {
  // splitmix64 from state 0 gives e220a8397b1dcdaf, 6e789e6aa1b965f4 (reference values of its authors' code).
  const double first = static_cast<double>(0xe220a8397b1dcdafu >> 11) / 9007199254740992.0;
  const double second = static_cast<double>(0x6e789e6aa1b965f4u >> 11) / 9007199254740992.0;
  EXPECT_EQ(values("f64[2]=random:0"), (std::vector<double>{first, second}));
  EXPECT_EQ(values("f64[1]=random:0:-10:10"), std::vector<double>{-10 + first * 20});
  EXPECT_EQ(values("i32[2]=random"), (std::vector<double>{std::floor(first * 100), std::floor(second * 100)}));
  for (const double v : values("bool[100]=random:5")) EXPECT_TRUE(v == 0 || v == 1);
  for (const double v : values("i8[100]=random:5:-128:128")) EXPECT_TRUE(v >= -128 && v <= 127);
  EXPECT_NE(values("f64[4]=random:1"), values("f64[4]=random:2"));
}

TEST(Argument, wrong_arrays_are_explained) {
  expect_refused("f33[4]", "unknown type 'f33'");
  expect_refused("f32[4", "shape");
  expect_refused("f32[]", "shape");
  expect_refused("f32[-1]", "shape");
  expect_refused("f32[4]ones", "shape");
  expect_refused("f32[4294967296,4294967296,4]", "too large");
  expect_refused("f32[4]=twos", "unknown fill 'twos'");
  expect_refused("f32[4]=", "unknown fill ''");
  expect_refused("u8[4]=256", "does not fit in u8");
  expect_refused("f32[4]=random:x", "random");
  expect_refused("f32[4]=random:1:2", "random");
  expect_refused("f32[4]=random:1:2:2", "LOW < HIGH");
  expect_refused("u8[4]=random:1:0:257", "fit the type");
  expect_refused("i32[4]=random:1:0:1.5", "fit the type");
}

TEST(Argument, pointers_and_bytes) {
  EXPECT_EQ(parse_argument("ptr:null", 1)->target, 0u);
  const auto into = parse_argument("ptr:2+256", 1);
  EXPECT_EQ(into->target, 2u);
  EXPECT_EQ(into->offset, 256u);
  EXPECT_EQ(parse_argument("bytes:00ffA1", 1)->bytes, (std::vector<uint8_t>{0, 255, 0xa1}));
  expect_refused("ptr:x", "ptr:2");
  expect_refused("ptr:0+4", "ptr:2");
  expect_refused("bytes:0", "two digits a byte");
  expect_refused("bytes:0g", "two digits a byte");
  EXPECT_FALSE(parse_arguments({"i32:5", "ptr:1"}).has_value());
  EXPECT_FALSE(parse_arguments({"f32[4]", "ptr:1+17"}).has_value());
  EXPECT_TRUE(parse_arguments({"f32[4]", "ptr:1+16"}).has_value());
}

TEST(Argument, files_that_are_not_there_are_named) {
  const auto a = parse_argument("nowhere/x.npy", 1);
  ASSERT_FALSE(a.has_value());
  EXPECT_EQ(a.error()[0].message, "there is no file 'nowhere/x.npy'");
}

Array floats(std::vector<float> v, std::vector<uint64_t> shape) {
  Array a{ElementType::kF32, std::move(shape), std::vector<uint8_t>(v.size() * 4)};
  std::memcpy(a.bytes.data(), v.data(), a.bytes.size());
  return a;
}

TEST(Comparison, tolerance_is_numpys_rule) {
  const Array expected = floats({100, 100, 0, -100}, {2, 2});
  const auto c = compare(floats({101, 101.5f, 0.5f, -101}, {2, 2}), expected, {.relative = 0.01, .absolute = 0.0});
  EXPECT_EQ(c.different, 2u);  // 1.5 > 1, 0.5 > 0
  EXPECT_EQ(c.worst, (std::vector<uint64_t>{0, 1}));
  // Both are beyond by half; the first one stays.
  EXPECT_EQ(describe(c, "y.npy"),
            "y.npy: 2 of 4 elements differ; worst at [0, 1]: 101.5, expected 100 (rtol 0.01, atol 0)");
}

TEST(Comparison, not_a_number_agrees_with_itself_only) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(compare(floats({nan, inf, -inf}, {3}), floats({nan, inf, -inf}, {3}), {}).equal());
  const auto c =
      compare(floats({nan, inf, 1, inf}, {4}), floats({1, -inf, nan, 3}, {4}), {.relative = 1e9, .absolute = 0.0});
  EXPECT_EQ(c.different, 4u);
}

TEST(Comparison, whole_numbers_are_equal_or_not) {
  Array a{ElementType::kI64, {1}, std::vector<uint8_t>(8)}, b = a;
  const int64_t big = (int64_t{1} << 62) + 1, neighbour = big - 1;  // one double
  std::memcpy(a.bytes.data(), &big, 8);
  std::memcpy(b.bytes.data(), &neighbour, 8);
  const auto c = compare(a, b, {});
  EXPECT_EQ(c.different, 1u);
  EXPECT_EQ(c.actual, "4611686018427387905");
  EXPECT_EQ(c.expected, "4611686018427387904");
  EXPECT_TRUE(compare(a, a, {}).equal());
}

TEST(Comparison, shapes_and_types_must_agree) {
  const Array expected = floats({1, 2}, {2});
  EXPECT_TRUE(check_comparable(ElementType::kF16, {2}, expected, "y.npy").has_value());
  const auto shape = check_comparable(ElementType::kF32, {1, 2}, expected, "y.npy");
  ASSERT_FALSE(shape.has_value());
  EXPECT_EQ(shape.error()[0].message, "y.npy is f32[2], and the result is f32[1,2]");
  EXPECT_FALSE(check_comparable(ElementType::kI32, {2}, expected, "y.npy").has_value());
}

}  // namespace
}  // namespace warplens::session
