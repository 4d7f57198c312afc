// SPDX-License-Identifier: Apache-2.0
// Extended-precision chains (add.cc, addc, sub.cc, subc, mad.cc, madc): 128-bit arithmetic in 32-bit pieces, as
// compilers write it, against the host's 128-bit integers, on both executors. And the address-space instructions, whose
// values depend on where the windows lie.
#include <gtest/gtest.h>

#include "support/ptx_launcher.h"

namespace warplens::ops_test {
namespace {

using test::Params;
using test::PtxLauncher;
using U128 = unsigned __int128;

const std::string kHead =
    test::kPtxHead +
    ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 po) {\n"
    ".reg .b32 a<4>, b<4>, d<4>, t, c<4>; .reg .b64 a, b, o, w<4>; .reg .pred p;\n"
    "ld.param.u64 a, [pa]; ld.param.u64 b, [pb]; ld.param.u64 o, [po];\n"
    "mov.u32 t, %tid.x; mad.wide.u32 a, t, 16, a; mad.wide.u32 b, t, 16, b; mad.wide.u32 o, t, 16, o;\n"
    "ld.global.v4.u32 {a0, a1, a2, a3}, [a]; ld.global.v4.u32 {b0, b1, b2, b3}, [b];\n";
const std::string kTail = "st.global.v4.u32 [o], {d0, d1, d2, d3};\nret;\n}\n";

const U128 kValues[] = {0,
                        1,
                        0xffffffff,
                        U128{1} << 32,
                        (U128{1} << 64) - 1,
                        U128{1} << 64,
                        ~U128{0},
                        (U128{0x0123456789abcdef} << 64) | 0xfedcba9876543210,
                        U128{1} << 127,
                        (U128{0xffffffff00000000} << 64) | 0xffffffff};

class Carry : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<exec::Executor> executor() {
    return GetParam() == "interpreter" ? exec::make_interpreter() : exec::make_jit({});
  }
  /// All pairs of kValues through `body`; `expected` says what the result is.
  template <typename F>
  void check(const std::string& body, F&& expected) {
    PtxLauncher launcher(kHead + body + kTail);
    std::vector<U128> a, b;
    for (const U128 x : kValues)
      for (const U128 y : kValues) a.push_back(x), b.push_back(y);
    auto *pa = launcher.array(a), *pb = launcher.array(b), *po = launcher.zeros<U128>(a.size());
    const auto params = Params()
                            .add(reinterpret_cast<uint64_t>(pa))
                            .add(reinterpret_cast<uint64_t>(pb))
                            .add(reinterpret_cast<uint64_t>(po));
    const auto runner = executor();
    const auto outcome = launcher.launch("k", {.block = {static_cast<uint32_t>(a.size()), 1, 1}}, params, runner.get());
    ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
    for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(po[i] == expected(a[i], b[i])) << "pair " << i;
  }
};

TEST_P(Carry, adds_128_bits_in_words) {
  check("add.cc.u32 d0, a0, b0; addc.cc.u32 d1, a1, b1; addc.cc.u32 d2, a2, b2; addc.u32 d3, a3, b3;\n",
        [](U128 a, U128 b) { return a + b; });
}
TEST_P(Carry, subtracts_128_bits_in_words) {
  check("sub.cc.u32 d0, a0, b0; subc.cc.u32 d1, a1, b1; subc.cc.u32 d2, a2, b2; subc.u32 d3, a3, b3;\n",
        [](U128 a, U128 b) { return a - b; });
}
TEST_P(Carry, adds_128_bits_in_double_words) {
  check(
      "mov.b64 w0, {a0, a1}; mov.b64 w1, {a2, a3}; mov.b64 w2, {b0, b1}; mov.b64 w3, {b2, b3};\n"
      "add.cc.u64 w0, w0, w2; addc.u64 w1, w1, w3; mov.b64 {d0, d1}, w0; mov.b64 {d2, d3}, w1;\n",
      [](U128 a, U128 b) { return a + b; });
}
TEST_P(Carry, multiplies_64_by_64_bits_in_words) {
  check(
      "mul.lo.u32 d0, a0, b0; mul.hi.u32 d1, a0, b0;\n"
      "mad.lo.cc.u32 d1, a0, b1, d1; madc.hi.u32 d2, a0, b1, 0;\n"
      "mad.lo.cc.u32 d1, a1, b0, d1; madc.hi.cc.u32 d2, a1, b0, d2; addc.u32 d3, 0, 0;\n"
      "mad.lo.cc.u32 d2, a1, b1, d2; madc.hi.u32 d3, a1, b1, d3;\n",
      [](U128 a, U128 b) { return U128{static_cast<uint64_t>(a)} * static_cast<uint64_t>(b); });
}
TEST_P(Carry, survives_a_guard_and_a_branch) {
  // The flag is made before a divergent branch and used behind it, in some lanes only.
  check(
      "add.cc.u32 d0, a0, b0; setp.gt.u32 p, a3, 5; mov.u32 d2, 0; mov.u32 d3, 0; @p bra skip;\n"
      "xor.b32 c0, a0, b0; skip: addc.u32 d1, a1, b1; @p addc.u32 d2, 0, 0;\n",
      [](U128 a, U128 b) {
        const auto low = static_cast<uint32_t>(a), low_b = static_cast<uint32_t>(b);
        const uint64_t sum = uint64_t{low} + low_b, carry = sum >> 32;
        const auto d1 = static_cast<uint32_t>((a >> 32) & 0xffffffff) + static_cast<uint32_t>((b >> 32) & 0xffffffff);
        const U128 d2 = static_cast<uint32_t>(a >> 96) > 5 ? carry : 0;
        return U128{static_cast<uint32_t>(sum)} | U128{static_cast<uint32_t>(d1 + carry)} << 32 | d2 << 64;
      });
}

TEST_P(Carry, generic_addresses_go_into_windows_and_back) {
  PtxLauncher launcher(
      test::kPtxHead +
      ".global .u32 g;\n.visible .entry k(.param .u64 po) {\n"
      ".shared .u32 s; .local .u32 l; .reg .b64 o, x, y, z; .reg .b32 r; .reg .pred p;\n"
      "ld.param.u64 o, [po];\n"
      "mov.u64 x, s; cvta.shared.u64 y, x; cvta.to.shared.u64 z, y; sub.u64 z, z, x; st.global.u64 [o], z;\n"
      "isspacep.shared p, y; selp.u64 z, 1, 0, p; st.global.u64 [o+8], z;\n"
      "isspacep.local p, y; selp.u64 z, 1, 0, p; st.global.u64 [o+16], z;\n"
      "isspacep.global p, y; selp.u64 z, 1, 0, p; st.global.u64 [o+24], z;\n"
      "mov.u64 x, l; cvta.local.u64 y, x; isspacep.local p, y; selp.u64 z, 1, 0, p; st.global.u64 [o+32], z;\n"
      "mov.u64 x, g; cvta.global.u64 y, x; isspacep.global p, y; selp.u64 z, 1, 0, p; st.global.u64 [o+40], z;\n"
      "isspacep.shared p, y; selp.u64 z, 1, 0, p; st.global.u64 [o+48], z; sub.u64 z, x, y;\n"
      "st.global.u64 [o+56], z; mov.u64 x, s; st.shared.u32 [s], 77; cvta.shared.u64 y, x;\n"
      "ld.u32 r, [y]; cvt.u64.u32 z, r; st.global.u64 [o+64], z; ret;\n}\n");
  auto* out = launcher.zeros<uint64_t>(9);
  const auto runner = executor();
  const auto outcome =
      launcher.launch("k", {.block = {32, 1, 1}}, Params().add(reinterpret_cast<uint64_t>(out)), runner.get());
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  const std::vector<uint64_t> expected = {0, 1, 0, 0, 1, 1, 0, 0, 77};
  EXPECT_EQ(std::vector<uint64_t>(out, out + 9), expected);
}

INSTANTIATE_TEST_SUITE_P(On, Carry, testing::Values("interpreter", "generated_code"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace warplens::ops_test
