// SPDX-License-Identifier: Apache-2.0
// Warps that leave generated code in the middle of a basic block, because a 32-bit index wraps inside the warp: values
// and counts equal the interpreter's, with accesses before and behind the place, in whole, partial and diverged warps.
#include <fmt/format.h>

#include "two_executors.h"

namespace warplens::test {
namespace {

/// out[thread] = {zero-extended base + tid, value from shared memory}; `before` is put in front of the wrapping index.
std::string wrapping_kernel(const std::string& before) {
  return fmt::format(R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry wraps(.param .u64 out, .param .u32 base)
{{
  .reg .u64 %rd<8>;
  .reg .u32 %r<8>;
  .reg .pred %p<2>;
  .shared .align 4 .b8 tile[4096];
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [base];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, tile;
  shl.b32 %r4, %r2, 2;
  add.u32 %r3, %r3, %r4;
  mul.wide.u32 %rd2, %r2, 16;
  add.u64 %rd3, %rd1, %rd2;
{}
  st.shared.u32 [%r3], %r2;
  st.global.u32 [%rd3+12], %r2;
  add.u32 %r5, %r1, %r2;
  cvt.u64.u32 %rd4, %r5;
  st.global.u64 [%rd3], %rd4;
  ld.shared.u32 %r6, [%r3];
  st.global.u32 [%rd3+8], %r6;
  ld.global.u32 %r7, [%rd1];
  st.shared.u32 [%r3], %r7;
done:
  ret;
}})",
                     before);
}

struct Case {
  const char* name;
  uint32_t base;
  unsigned threads;
  const char* before;
};

class Deoptimised : public testing::TestWithParam<Case> {};

TEST_P(Deoptimised, counts_each_access_once) {
  const Case& c = GetParam();
  for (const bool events : {false, true}) {
    for (const auto copies :
         {exec::JitCopies::kAsNeeded, exec::JitCopies::kOneFunction, exec::JitCopies::kMaskedOnly}) {
      TwoExecutors two(wrapping_kernel(c.before));
      Params params;
      const uint64_t out = two.array(std::vector<uint8_t>(size_t{c.threads} * 16));
      params.add(out);
      params.add(c.base);
      PtxLauncher::Options options;
      options.block = {c.threads, 1, 1};
      const auto interpreter = exec::make_interpreter();
      exec::JitOptions how;
      how.copies = copies;
      const auto jit = exec::make_jit(how);
      // The first launch meets the case, the second runs code made again without the assumption.
      for (int launch = 0; launch < 2; ++launch) two.compare("wraps", options, params, *interpreter, *jit, events);
      if (*c.before != '\0') continue;
      for (uint32_t t = 0; t < c.threads; ++t) {
        uint64_t index = 0;
        std::memcpy(&index, reinterpret_cast<const void*>(out + t * 16), 8);
        EXPECT_EQ(index, uint32_t{c.base + t}) << "thread " << t;
      }
    }
  }
}

constexpr const char* kHalfLeaves = "  and.b32 %r7, %r2, 1;\n  setp.eq.u32 %p1, %r7, 0;\n  @%p1 bra done;";

INSTANTIATE_TEST_SUITE_P(All, Deoptimised,
                         testing::Values(Case{"nothing_wraps", 100, 64, ""},
                                         Case{"first_warp_wraps", 0xfffffff0u, 64, ""},
                                         Case{"second_warp_wraps", 0xffffffd0u, 96, ""},
                                         Case{"partial_warp_wraps", 0xfffffffcu, 9, ""},
                                         Case{"diverged_warp_wraps", 0xfffffff0u, 64, kHalfLeaves}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace warplens::test
