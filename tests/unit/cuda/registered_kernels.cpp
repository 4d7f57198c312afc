// SPDX-License-Identifier: Apache-2.0
#include "registered_kernels.h"

#include <cstdlib>
#include <fstream>

#include "compile/fatbin.h"

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int);
}

namespace warplens::cuda::test {

char twice, store_at, use_counter, big_shared, meet, pairs, missing;
char counter, scale;

std::string record_path() { return testing::TempDir() + "runtime_test_record." + std::to_string(getpid()); }

namespace {

constexpr const char* kPtx = R"(
.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 counter = 5;
.const .align 4 .f32 scale[2] = {0f40000000, 0f40400000};

// p[i] = p[i] * 2 + tag for i < n
.visible .entry twice(.param .u64 p, .param .u8 tag, .param .u32 n)
{
  .reg .pred %q;
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [p];
  ld.param.u8 %r0, [tag];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %q, %r5, %r1;
  @%q bra done;
  mul.wide.s32 %d1, %r5, 4;
  cvta.to.global.u64 %d2, %d0;
  add.s64 %d3, %d2, %d1;
  ld.global.u32 %r6, [%d3];
  mad.lo.s32 %r7, %r6, 2, %r0;
  st.global.u32 [%d3], %r7;
done:
  ret;
}
.visible .entry store_at(.param .u64 p)
{
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [p];
  st.global.u32 [%d0], 1;
  ret;
}
.visible .entry use_counter(.param .u64 p)
{
  .reg .b32 %r<2>;
  .reg .f32 %f0;
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [p];
  ld.global.u32 %r0, [counter];
  st.global.u32 [%d0], %r0;
  ld.const.f32 %f0, [scale+4];
  st.global.f32 [%d0+4], %f0;
  ret;
}
.visible .entry big_shared(.param .u64 p)
{
  .shared .align 4 .b8 s[8192];
  ret;
}
.visible .entry pairs(.param .u64 p) .explicitcluster .reqnctapercluster 2, 1, 1
{
  .reg .b32 %r;
  .reg .b64 %d<3>;
  ld.param.u64 %d0, [p];
  mov.u32 %r, %ctaid.x;
  mul.wide.u32 %d1, %r, 4;
  add.s64 %d2, %d0, %d1;
  st.global.u32 [%d2], 1;
  ret;
}
// Every block adds 1 to *p, all blocks meet as in a cooperative grid sync, and block i stores the sum in p[1 + i].
.visible .entry meet(.param .u64 p)
{
  .reg .pred %q<2>;
  .reg .b32 %r<12>;
  .reg .b64 %d<8>;
  ld.param.u64 %d0, [p];
  mov.u32 %r0, %envreg2;
  mov.u32 %r1, %envreg1;
  cvt.u64.u32 %d1, %r0;
  cvt.u64.u32 %d2, %r1;
  bfi.b64 %d3, %d2, %d1, 32, 32;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %nctaid.x;
  red.global.add.u32 [%d0], 1;
  setp.eq.u32 %q0, %r2, 0;
  sub.s32 %r4, -2147483647, %r3;
  selp.b32 %r5, %r4, 1, %q0;
  atom.add.release.gpu.u32 %r6, [%d3+4], %r5;
wait:
  ld.acquire.gpu.u32 %r7, [%d3+4];
  xor.b32 %r8, %r7, %r6;
  setp.gt.s32 %q1, %r8, -1;
  @%q1 bra wait;
  ld.volatile.global.u32 %r9, [%d0];
  mul.wide.u32 %d4, %r2, 4;
  add.s64 %d5, %d0, %d4;
  st.global.u32 [%d5+4], %r9;
  ret;
}
)";

/// Before the first call of the runtime: the session, and the registration.
struct Start {
  Start() {
    const std::string path = testing::TempDir() + "runtime_test_session." + std::to_string(getpid());
    std::ofstream(path) << R"({"executor": "interpreter", "workers": 2, "record": ")" << record_path() << "\"}";
    setenv("WARPLENS_SESSION", path.c_str(), 1);
    static const std::string container = make_container(kPtx, "hand.ptx");
    static FatBinaryWrapper wrapper = {kWrapperMagic, 1, container.data(), nullptr};
    void** handle = __cudaRegisterFatBinary(&wrapper);
    const auto add = [&](char& host, const char* name) {
      __cudaRegisterFunction(handle, &host, &host, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    };
    add(twice, "twice"), add(store_at, "store_at"), add(use_counter, "use_counter"), add(big_shared, "big_shared");
    add(meet, "meet"), add(pairs, "pairs");
    __cudaRegisterVar(handle, &counter, &counter, "counter", 0, 4, 0, 0);
    __cudaRegisterVar(handle, &scale, &scale, "scale", 0, 8, 1, 0);
    __cudaRegisterFatBinaryEnd(handle);
  }
} const start;

}  // namespace
}  // namespace warplens::cuda::test
