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

/// A function that copies an object as clang writes it before optimisation; the metadata lists the object's fields.
std::string copies_object(const std::string& arguments, const std::string& fields) {
  return "define void @f(ptr %in) {\n  %own = alloca %struct.T, align 16\n  %other = alloca %struct.T, align 16\n"
         "  call void @llvm.memcpy.p0.p0.i64(" +
         arguments + ", i1 false), !tbaa.struct !7\n  ret void\n}\n!7 = !{" + fields + "}\n!8 = !{i64 0}\n";
}
const char* const kFourFloats = "i64 0, i64 4, !8, i64 4, i64 4, !8, i64 8, i64 4, !8, i64 12, i64 4, !8";

TEST(WideObjectCopies, element_is_the_smallest_field) {
  const char* const arguments = "ptr align 16 %own, ptr align 16 %in, i64 16";
  const auto widened = [&](const char* fields) { return widen_object_copies(copies_object(arguments, fields)); };
  EXPECT_NE(widened(kFourFloats).find("load <4 x i32>, ptr %object.f0.0, align 16\n"), std::string::npos);
  EXPECT_NE(widened("i64 0, i64 8, !8, i64 8, i64 8, !8").find("load <2 x i64>"), std::string::npos);
  EXPECT_NE(widened("i64 0, i64 8, !8, i64 8, i64 2, !8").find("load <8 x i16>"), std::string::npos);
  EXPECT_NE(widened("i64 0, i64 1, !8, i64 8, i64 8, !8").find("store <16 x i8> %object.v0.0"), std::string::npos);
}

TEST(WideObjectCopies, alignment_of_one_side_is_the_objects) {
  for (const char* arguments :
       {"ptr align 4 %at, ptr align 16 %in, i64 16", "ptr align 16 %at, ptr align 4 %in, i64 16"})
    EXPECT_NE(widen_object_copies(copies_object(arguments, kFourFloats)).find("store <4 x i32>"), std::string::npos);
}

TEST(WideObjectCopies, everything_else_stays) {
  const char* const good = "ptr align 16 %own, ptr align 16 %in, i64 16";
  for (const std::string& ir : {
           copies_object("ptr align 16 %own, ptr align 16 %other, i64 16", kFourFloats),  // both are the function's own
           copies_object("ptr align 8 %own, ptr align 8 %in, i64 16", kFourFloats),       // alignment
           copies_object("ptr align 16 %own, ptr align 16 %in, i64 24", kFourFloats),     // size
           copies_object(good, "i64 0, i64 16, !8"),                                      // an array
           copies_object(good, "i64 0"), copies_object(good, ""),                         // not a list of fields
       })
    EXPECT_EQ(widen_object_copies(ir), ir);
}

}  // namespace
}  // namespace warplens
