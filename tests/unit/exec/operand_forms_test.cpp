// SPDX-License-Identifier: Apache-2.0
// Rare ways to write operands and calls, in both executors: registers with an offset, lists, parameters in (vector)
// registers, pointers to functions. Expected values are worked out by hand.
#include <gtest/gtest.h>

#include "support/ptx_launcher.h"

namespace warplens::exec {
namespace {

using test::kPtxHead;
using test::Params;
using test::PtxLauncher;

class OperandForms : public testing::TestWithParam<const char*> {
 protected:
  std::vector<uint32_t> run(const std::string& text, uint32_t words, uint32_t threads) {
    PtxLauncher gpu(kPtxHead + text);
    auto* out = gpu.zeros<uint32_t>(words);
    const auto runs = std::string(GetParam()) == "jit" ? make_jit({}) : make_interpreter();
    outcome_ = gpu.launch("k", {.block = {threads, 1, 1}}, Params().add(out), runs.get());
    return {out, out + words};
  }
  LaunchOutcome outcome_;
};

TEST_P(OperandForms, a_register_may_have_an_offset) {
  const auto out = run(R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 t, d; .reg .b64 o, p; .reg .b32 x<2>;
  ld.param.u64 o, [out]; mov.u32 t, %tid.x;
  mad.wide.u32 o, t, 8, o;
  add.u32 d, t+5, 100; sub.u32 d, d-1, t;
  mov.b64 p, {t+1, t-1}; mov.b64 {x0, x1}, p; add.u32 x0, x0, x1;
  st.global.v2.u32 [o], {d, x0}; ret;
})",
                       64, 32);
  ASSERT_TRUE(outcome_.complete());
  for (uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(out[2 * t], 104u);
    EXPECT_EQ(out[2 * t + 1], 2 * t);
  }
}

TEST_P(OperandForms, lists_and_vector_registers_move_element_by_element) {
  const auto out = run(R"(
.visible .entry k(.param .u64 out) {
  .reg .v4 .b32 v, w; .reg .b32 a, b, c, d; .reg .b64 o;
  ld.param.u64 o, [out];
  mov.b32 v.x, 1; mov.b32 v.y, 2; mov.b32 v.z, 3; mov.b32 v.w, 4;
  mov.v4.b32 w, v; mov.v4.b32 {a, b, c, d}, w; mov.v4.b32 v, {d, c, b, a};
  st.global.v4.b32 [o], v; st.global.v4.b32 [o+16], {a, b, c, d}; ret;
})",
                       8, 1);
  ASSERT_TRUE(outcome_.complete());
  EXPECT_EQ(out, (std::vector<uint32_t>{4, 3, 2, 1, 1, 2, 3, 4}));
}

TEST_P(OperandForms, parameters_may_be_registers) {
  const auto out = run(R"(
.func (.reg .b32 r) scaled(.reg .b32 a, .reg .b32 by) { mul.lo.u32 r, a, by; ret; }
.visible .entry k(.param .u64 out) {
  .reg .b32 t, d; .reg .b64 o;
  ld.param.u64 o, [out]; mov.u32 t, %tid.x; mad.wide.u32 o, t, 4, o;
  call (d), scaled, (t, 3); st.global.u32 [o], d; ret;
})",
                       32, 32);
  ASSERT_TRUE(outcome_.complete());
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], 3 * t);
}

/// Each lane picks its function from a table; two have the prototype, one has not.
const std::string kTable = R"(
.func (.param .b32 r) twice(.param .b32 a) {
  .reg .b32 x; ld.param.b32 x, [a]; add.u32 x, x, x; st.param.b32 [r], x; ret; }
.func (.param .b32 r) squared(.param .b32 a) {
  .reg .b32 x; ld.param.b32 x, [a]; mul.lo.u32 x, x, x; st.param.b32 [r], x; ret; }
.func nothing() { ret; }
.global .align 8 .u64 table[3] = {twice, squared, nothing};
.visible .entry k(.param .u64 out) {
  .reg .b32 t, d; .reg .b64 o, f, at; .reg .pred p;
  ld.param.u64 o, [out]; mov.u32 t, %tid.x; mad.wide.u32 o, t, 4, o;
  and.b32 d, t, 1; mov.u64 at, table; mad.wide.u32 at, d, 8, at; ld.global.u64 f, [at];
  { .param .b32 a0; .param .b32 r0; st.param.b32 [a0], t;
    prototype_0: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (r0), f, (a0), prototype_0;
    ld.param.b32 d, [r0]; }
  st.global.u32 [o], d; ret;
})";

TEST_P(OperandForms, pointers_to_functions_are_called) {
  const auto out = run(kTable, 32, 32);
  ASSERT_TRUE(outcome_.complete()) << outcome_.findings[0].message;
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t % 2 == 0 ? 2 * t : t * t);
}

TEST_P(OperandForms, a_call_of_no_function_traps) {
  std::string text = kTable;
  text.replace(text.find("ld.global.u64 f, [at];"), 22, "mov.u64 f, 12345;     ");
  run(text, 32, 32);
  ASSERT_FALSE(outcome_.complete());
  EXPECT_EQ(outcome_.findings[0].kind, events::FindingKind::kTrap);
}

INSTANTIATE_TEST_SUITE_P(Executor, OperandForms, testing::Values("interpreter", "jit"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace warplens::exec
