// SPDX-License-Identifier: Apache-2.0
#include "compile/wide_copies.h"

#include <gtest/gtest.h>

namespace warplens {
namespace {

TEST(WideCopies, aligned_copy_of_16_bytes_is_one_load_and_one_store) {
  const std::string ir =
      "  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 16 dereferenceable(16) %14, ptr noundef "
      "nonnull "
      "align 16 dereferenceable(16) %15, i64 16, i1 false), !dbg !22, !tbaa.struct !23\n";
  EXPECT_EQ(widen_copies(ir),
            "  %wide.f0.0 = getelementptr inbounds i8, ptr %15, i64 0, !dbg !22\n"
            "  %wide.v0.0 = load <4 x i32>, ptr %wide.f0.0, align 16, !dbg !22\n"
            "  %wide.t0.0 = getelementptr inbounds i8, ptr %14, i64 0, !dbg !22\n"
            "  store <4 x i32> %wide.v0.0, ptr %wide.t0.0, align 16, !dbg !22\n");
}

TEST(WideCopies, larger_copy_loads_everything_before_it_stores) {
  const std::string ir =
      "  call void @llvm.memcpy.p3.p0.i64(ptr addrspace(3) align 16 @tile, ptr align 32 %x.y, i64 32, i1 false)\n";
  const std::string out = widen_copies(ir);
  EXPECT_LT(out.rfind("load <4 x i32>"), out.find("store <4 x i32>"));
  EXPECT_NE(out.find("%wide.t0.16 = getelementptr inbounds i8, ptr addrspace(3) @tile, i64 16\n"), std::string::npos);
}

TEST(WideCopies, everything_else_stays) {
  for (const char* line : {
           "  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %1, ptr align 16 %2, i64 16, i1 false)\n",   // alignment
           "  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %1, ptr align 16 %2, i64 24, i1 false)\n",  // size
           "  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %1, ptr align 16 %2, i64 16, i1 true)\n",   // volatile
           "  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %1, ptr align 16 %2, i64 %3, i1 false)\n",  // variable
           "declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr, i64, i1 immarg) #1\n",
       })
    EXPECT_EQ(widen_copies(line), line);
}

}  // namespace
}  // namespace warplens
