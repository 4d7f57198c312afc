// SPDX-License-Identifier: Apache-2.0
// Programs that misbehave: which finding, for which thread, at which place.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "support/ptx_launcher.h"

namespace warplens::exec {
namespace {

using events::FindingKind;
using test::kPtxHead;
using test::Params;
using test::PtxLauncher;

/// out[tid.x * step] = tid.x, with a source line at the store.
const std::string kStore = kPtxHead + R"(
.file 1 "user.cu"
.visible .entry k(.param .u64 out, .param .u32 step) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  ld.param.u32 %r2, [step];
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, %r2;
  add.s64 %rd3, %rd1, %rd2;
  .loc 1 17 5
  st.global.u32 [%rd3], %r1;
  ret;
}
)";

TEST(Finding, out_of_bounds_names_the_first_wrong_thread_and_the_place) {
  PtxLauncher gpu(kStore);
  auto* const out = gpu.zeros<uint32_t>(40);
  const auto outcome = gpu.launch("k", {.block = {64, 1, 1}}, Params().add(out).add(uint32_t{4}));
  ASSERT_EQ(outcome.findings.size(), 1u);
  const events::Finding& f = outcome.findings[0];
  EXPECT_EQ(f.kind, FindingKind::kOutOfBounds);
  EXPECT_EQ(f.thread_index, (events::Dim3{40, 0, 0}));
  EXPECT_EQ(f.lane, 8u);
  EXPECT_EQ(f.address, reinterpret_cast<uintptr_t>(out) + 160);
  EXPECT_EQ(f.bytes, 4u);
  EXPECT_EQ(f.file, "user.cu");
  EXPECT_EQ(f.place, (events::Place{1, 17, 5}));
  EXPECT_EQ(f.message,
            fmt::format("writes 4 bytes at {:#x}, 0 bytes past the end of an allocation of 160 bytes (address from "
                        "parameter out)",
                        f.address));
  EXPECT_EQ(out[31], 31u) << "the warp before it was right";
  EXPECT_EQ(out[32], 0u) << "nothing of the wrong access happens";
}

TEST(Finding, null_pointer) {
  PtxLauncher gpu(kStore);
  const auto outcome = gpu.launch("k", {.block = {4, 1, 1}}, Params().add(uint64_t{0}).add(uint32_t{4}));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].kind, FindingKind::kNullPointer);
  EXPECT_EQ(outcome.findings[0].lane, 0u);
}

TEST(Finding, misaligned_address) {
  PtxLauncher gpu(kStore);
  auto* const out = gpu.zeros<uint32_t>(40);
  const auto outcome = gpu.launch("k", {.block = {4, 1, 1}}, Params().add(out).add(uint32_t{6}));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].kind, FindingKind::kMisaligned);
  EXPECT_EQ(outcome.findings[0].lane, 1u);
}

TEST(Finding, freed_memory_is_out_of_bounds) {
  PtxLauncher gpu(kStore);
  auto* const out = gpu.zeros<uint32_t>(40);
  ASSERT_TRUE(gpu.arena().free(reinterpret_cast<uintptr_t>(out)));
  const auto outcome = gpu.launch("k", {.block = {4, 1, 1}}, Params().add(out).add(uint32_t{4}));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].kind, FindingKind::kOutOfBounds);
  EXPECT_NE(outcome.findings[0].message.find("freed"), std::string::npos);
}

TEST(Finding, shared_memory_ends_where_the_launch_says) {
  PtxLauncher gpu(kPtxHead + R"(
.extern .shared .align 4 .b8 dyn[];
.visible .entry k() {
  .reg .b32 %r<4>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, dyn;
  mad.lo.u32 %r3, %r1, 4, %r2;
  st.shared.u32 [%r3], %r1;
  ret;
})");
  EXPECT_TRUE(gpu.launch("k", {.block = {32, 1, 1}, .dynamic_shared_bytes = 128}, {}).complete());
  const auto outcome = gpu.launch("k", {.block = {32, 1, 1}, .dynamic_shared_bytes = 100}, {});
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].kind, FindingKind::kOutOfBounds);
  EXPECT_EQ(outcome.findings[0].lane, 25u);
}

TEST(Finding, the_only_barrier_of_some_warps_is_a_deadlock) {
  // Half of the warps wait at barrier 0, half at barrier 1.
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k() {
  .reg .b32 %r<4>;
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 5;
  and.b32 %r2, %r2, 1;
  bar.sync %r2;
  ret;
})");
  const auto outcome = gpu.launch("k", {.grid = {4, 1, 1}, .block = {128, 1, 1}, .workers = 2}, {});
  ASSERT_FALSE(outcome.complete());
  EXPECT_EQ(outcome.findings[0].kind, FindingKind::kDeadlock);
  EXPECT_EQ(gpu.kernel("k")->function->body[outcome.findings[0].pc].def->form.mnemonic, "bar");
}

TEST(Finding, trap_and_failed_assertion) {
  PtxLauncher gpu(kPtxHead + R"(
.global .align 1 .b8 text[8] = {120, 32, 62, 32, 48, 0, 0, 0};
.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.visible .entry traps() { trap; ret; }
.visible .entry asserts() {
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 5;
  @%p1 bra $fine;
  mov.u64 %rd1, text;
  cvta.global.u64 %rd2, %rd1;
  mov.u64 %rd3, file;
  cvta.global.u64 %rd4, %rd3;
  mov.u32 %r2, 12;
  mov.u64 %rd5, 1;
  {
  .param .b64 param0; .param .b64 param1; .param .b32 param2; .param .b64 param3; .param .b64 param4;
  st.param.b64 [param0], %rd2;
  st.param.b64 [param1], %rd4;
  st.param.b32 [param2], %r2;
  st.param.b64 [param3], %rd4;
  st.param.b64 [param4], %rd5;
  call.uni __assertfail, (param0, param1, param2, param3, param4);
  }
$fine:
  ret;
})");
  const auto trapped = gpu.launch("traps", {.block = {32, 1, 1}}, {});
  ASSERT_FALSE(trapped.complete());
  EXPECT_EQ(trapped.findings[0].kind, FindingKind::kTrap);
  const auto failed = gpu.launch("asserts", {.block = {32, 1, 1}}, {});
  ASSERT_FALSE(failed.complete());
  EXPECT_EQ(failed.findings[0].kind, FindingKind::kAssert);
  EXPECT_EQ(failed.findings[0].lane, 5u);
  EXPECT_EQ(failed.findings[0].message, "assertion `x > 0` failed in a.cu at a.cu:12");
}

TEST(Finding, an_endless_loop_ends_when_it_is_interrupted) {
  for (const bool with_barrier : {false, true}) {
    PtxLauncher gpu(kPtxHead + ".visible .entry k() {\n$loop:\n" + (with_barrier ? "bar.sync 0;\n" : "") +
                    "bra $loop;\n}\n");
    std::atomic<uint32_t> interrupt{0};
    std::thread outside([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      interrupt = kStopTimeout;
    });
    const auto outcome =
        gpu.launch("k", {.grid = {8, 1, 1}, .block = {64, 1, 1}, .workers = 2, .interrupt = &interrupt}, {});
    outside.join();
    ASSERT_FALSE(outcome.complete());
    EXPECT_EQ(outcome.findings[0].kind, FindingKind::kTimeout);
  }
}

TEST(DevicePrintf, formats_arguments_of_all_kinds) {
  PtxLauncher gpu(kPtxHead + R"(

.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.visible .entry k(.param .u64 format_address) {
  .local .align 8 .b8 depot[32];
  .reg .b32 %r<6>; .reg .b64 %rd<8>; .reg .f64 %fd<2>;
  mov.u32 %r1, %tid.x;
  st.local.u32 [depot], %r1;
  mov.f64 %fd1, 0d3FF8000000000000;
  st.local.f64 [depot+8], %fd1;
  mov.u64 %rd1, 1234567890123;
  st.local.u64 [depot+16], %rd1;
  mov.u64 %rd2, depot;
  cvta.local.u64 %rd3, %rd2;
  ld.param.u64 %rd4, [format_address];
  {
  .param .b64 param0; .param .b64 param1; .param .b32 retval0;
  st.param.b64 [param0], %rd4;
  st.param.b64 [param1], %rd3;
  call.uni (retval0), vprintf, (param0, param1);
  ld.param.b32 %r2, [retval0];
  }
  ret;
})");
  const std::string format = "%03d %.2f %lld 100%%\n";
  auto* const text = gpu.array(std::vector<char>(format.c_str(), format.c_str() + format.size() + 1));
  std::string printed;
  const auto outcome = gpu.launch("k", {.block = {2, 1, 1}, .printed = &printed}, Params().add(text));
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  EXPECT_EQ(printed, "000 1.50 1234567890123 100%\n001 1.50 1234567890123 100%\n");
}

TEST(LoadKernel, says_all_that_is_missing_with_its_place) {
  const std::string ptx = kPtxHead + R"(
.extern .global .align 4 .u32 elsewhere;
.extern .func (.param .b32 r) mystery(.param .b32 a);
.visible .entry k() {
  .reg .b32 %r<4>;
  .param .b32 param0; .param .b32 retval0;
  ld.global.u32 %r1, [elsewhere];
  st.param.b32 [param0], %r1;
  call.uni (retval0), mystery, (param0);
  ret;
})";
  PtxLauncher gpu(ptx);
  const auto loaded = load_kernel(gpu.module(), *gpu.module().module->find_function("k"));
  ASSERT_FALSE(loaded.has_value());
  ASSERT_EQ(loaded.error().size(), 2u);
  EXPECT_NE(loaded.error()[0].message.find("mystery"), std::string::npos);
  EXPECT_EQ(loaded.error()[0].pos.line, 12u);
  EXPECT_NE(loaded.error()[1].message.find("elsewhere"), std::string::npos);
}

}  // namespace
}  // namespace warplens::exec
