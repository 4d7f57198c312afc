// SPDX-License-Identifier: Apache-2.0
// Device functions against values known from mathematics (tables, identities), and the ones that work through pointers.
#include "ops/builtin_functions.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace warplens::ops {
namespace {

/// Memory of the test: words by address.
class Words : public BuiltinMemory {
 public:
  uint64_t load(uint64_t address, unsigned) override { return words[address]; }
  void store(uint64_t address, uint64_t bits, unsigned) override { words[address] = bits; }
  std::map<uint64_t, uint64_t> words;
};

uint64_t bits(double v) { return std::bit_cast<uint64_t>(v); }
uint64_t bits(float v) { return std::bit_cast<uint32_t>(v); }

uint64_t call(std::string_view name, std::vector<uint64_t> args, BuiltinMemory* memory = nullptr) {
  Words none;
  const Builtin* b = find_builtin(name);
  EXPECT_NE(b, nullptr) << name;
  if (b == nullptr) return 0;
  EXPECT_EQ(b->arguments, args.size()) << name;
  uint64_t result = 0;
  b->function(args, {&result, b->results}, memory != nullptr ? *memory : none);
  return result;
}
double call_f64(std::string_view name, double x) { return std::bit_cast<double>(call(name, {bits(x)})); }
float call_f32(std::string_view name, float x) {
  return std::bit_cast<float>(static_cast<uint32_t>(call(name, {bits(x)})));
}

TEST(Builtins, have_distinct_names) {
  std::set<std::string_view> names;
  for (const Builtin& b : builtins()) EXPECT_TRUE(names.insert(b.name).second) << b.name;
  EXPECT_EQ(find_builtin("__nv_nonsense"), nullptr);
}

TEST(Builtins, functions_of_one_argument_have_their_textbook_values) {
  EXPECT_NEAR(call_f64("__nv_sin", 0.5), 0.479425538604203, 1e-15);
  EXPECT_NEAR(call_f64("__nv_erf", 1), 0.842700792949715, 1e-15);
  EXPECT_NEAR(call_f64("__nv_erfinv", 0.842700792949715), 1, 1e-14);
  EXPECT_NEAR(call_f64("__nv_erfinv", 0.1), 0.0888559904942577, 1e-15);
  EXPECT_NEAR(call_f64("__nv_erfcinv", 1e-10), 4.572824967389486, 1e-12);
  EXPECT_NEAR(call_f64("__nv_erfcx", 30), 0.01879587, 1e-7);
  EXPECT_NEAR(call_f64("__nv_erfcx", 1), 0.427583576155807, 1e-14);
  EXPECT_NEAR(call_f64("__nv_normcdf", 1.959963984540054), 0.975, 1e-15);
  EXPECT_NEAR(call_f64("__nv_normcdfinv", 0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(call_f64("__nv_normcdfinv", 0.025), -1.959963984540054, 1e-14);
  EXPECT_NEAR(call_f64("__nv_cyl_bessel_i0", 1), 1.26606587775201, 1e-13);
  EXPECT_NEAR(call_f64("__nv_cyl_bessel_i1", 1), 0.565159103992485, 1e-13);
  EXPECT_NEAR(call_f64("__nv_j0", 1), 0.765197686557967, 1e-14);
  EXPECT_NEAR(call_f64("__nv_exp10", 3), 1000, 1e-10);
  EXPECT_NEAR(call_f64("__nv_rcbrt", 8), 0.5, 1e-16);
  EXPECT_EQ(call_f64("__nv_sinpi", 2), 0);
  EXPECT_EQ(call_f64("__nv_cospi", 0.5), 0);
  EXPECT_NEAR(call_f64("__nv_cospi", 1), -1, 1e-15);
  EXPECT_NEAR(call_f64("__nv_cospi", 0.75), -0.707106781186548, 1e-15);
  EXPECT_NEAR(call_f64("__nv_sinpi", 0.75), 0.707106781186548, 1e-15);
  EXPECT_FLOAT_EQ(call_f32("__nv_expf", 1), 2.7182818f);
  EXPECT_FLOAT_EQ(call_f32("__nv_rsqrtf", 4), 0.5f);
  EXPECT_EQ(call_f32("__nv_rintf", 2.5f), 2);
  EXPECT_EQ(call_f32("__nv_roundf", 2.5f), 3);
  EXPECT_EQ(call_f32("__nv_saturatef", std::numeric_limits<float>::quiet_NaN()), 0);
}

TEST(Builtins, write_through_their_pointers) {
  Words memory;
  call("__nv_sincosf", {bits(0.5f), 100, 200}, &memory);
  EXPECT_EQ(memory.words[100], bits(0.47942555f));
  EXPECT_EQ(memory.words[200], bits(0.87758255f));
  EXPECT_EQ(call("__nv_frexp", {bits(10.0), 300}, &memory), bits(0.625));
  EXPECT_EQ(memory.words[300], 4u);
  EXPECT_EQ(call("__nv_modf", {bits(-2.75), 400}, &memory), bits(-0.75));
  EXPECT_EQ(memory.words[400], bits(-2.0));
  memory.words[500] = bits(3.0f);
  memory.words[504] = bits(4.0f);
  EXPECT_EQ(call("__nv_normf", {2, 500}, &memory), bits(5.0f));
}

TEST(Builtins, round_in_the_mode_that_their_name_ends_with) {
  const uint64_t third = bits(1.0f / 3);  // 3eaaaaab: rounded up
  EXPECT_EQ(call("__nv_fdiv_rn", {bits(1.0f), bits(3.0f)}), third);
  EXPECT_EQ(call("__nv_fdiv_rz", {bits(1.0f), bits(3.0f)}), third - 1);
  EXPECT_EQ(call("__nv_fdiv_ru", {bits(-1.0f), bits(3.0f)}), (third - 1) | 0x80000000);
  EXPECT_EQ(call("__nv_fdiv_rd", {bits(-1.0f), bits(3.0f)}), third | 0x80000000);
  EXPECT_EQ(call("__nv_float2int_rn", {bits(2.5f)}), 2u);
  EXPECT_EQ(call("__nv_float2int_ru", {bits(2.5f)}), 3u);
  EXPECT_EQ(call("__nv_float2int_rd", {bits(-2.5f)}), 0xfffffffdu);
  EXPECT_EQ(call("__nv_float2uint_rz", {bits(-2.5f)}), 0u);
  EXPECT_EQ(call("__nv_double2ll_rz", {bits(1e30)}), 0x7fffffffffffffffu);
  EXPECT_EQ(call("__nv_int2float_rz", {0x1ffffff}), bits(33554430.0f));
  EXPECT_EQ(call("__nv_float2half_rn", {bits(1.0f)}), 0x3c00u);
  EXPECT_EQ(call("__nv_half2float", {0xc000}), bits(-2.0f));
}

TEST(Builtins, integer_functions) {
  EXPECT_EQ(call("__nv_clz", {1}), 31u);
  EXPECT_EQ(call("__nv_ffs", {0}), 0u);
  EXPECT_EQ(call("__nv_ffsll", {uint64_t{1} << 40}), 41u);
  EXPECT_EQ(call("__nv_mulhi", {0x80000000, 2}), 0xffffffffu);
  EXPECT_EQ(call("__nv_umul64hi", {~uint64_t{0}, 2}), 1u);
  EXPECT_EQ(call("__nv_byte_perm", {0x33221100, 0x77665544, 0x7250}), 0x77225500u);
  EXPECT_EQ(call("__nv_hadd", {0xffffffff, 2}), 0u);  // (-1 + 2) / 2, towards minus infinity
  EXPECT_EQ(call("__nv_abs", {0x80000000}), 0x80000000u);
}

}  // namespace
}  // namespace warplens::ops
