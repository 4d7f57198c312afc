// SPDX-License-Identifier: Apache-2.0
// Text in, text out; the shape of the input is LLVM 19's, written by hand.
#include "compile/inlined_places.h"

#include <gtest/gtest.h>

namespace warplens {
namespace {

const std::string kIr = R"(define void @k() !dbg !10 {
  %1 = load float, ptr null, !dbg !14
  ret void, !dbg !31
}
!7 = !DIFile(filename: "a.cu", directory: "/src")
!8 = !DIFile(filename: "/inc/h \22x\22.h", directory: "/src")
!10 = distinct !DISubprogram(name: "k", scope: !7, file: !7, line: 5)
!14 = !DILocation(line: 1, column: 72, scope: !15, inlinedAt: !16)
!15 = distinct !DILexicalBlock(scope: !19, file: !8, line: 1, column: 3)
!16 = distinct !DILocation(line: 3, column: 10, scope: !17, inlinedAt: !18)
!17 = distinct !DISubprogram(name: "helper", linkageName: "_Z6helperv", scope: !7, file: !7, line: 2)
!18 = distinct !DILocation(line: 7, column: 26, scope: !10)
!19 = distinct !DISubprogram(name: "inner", scope: !8, file: !8, line: 1)
!31 = !DILocation(line: 8, column: 1, scope: !10)
)";

TEST(InlinedPlaces, chain_is_followed_to_the_function_it_was_inlined_into) {
  const MarkedIr marked = mark_inlined_places(kIr);
  ASSERT_EQ(marked.places.size(), 2u);  // the second is the chain's own middle, which no instruction has
  const auto& frames = marked.places[0].frames;
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].file, "/inc/h \"x\".h");
  EXPECT_EQ(frames[0].function, "inner");
  EXPECT_EQ(frames[0].line, 1u);
  EXPECT_EQ(frames[0].column, 72u);
  EXPECT_EQ(frames[1].function, "_Z6helperv");
  EXPECT_EQ(frames[2].file, "/src/a.cu");
  EXPECT_EQ(frames[2].line, 7u);
  EXPECT_NE(marked.text.find("!14 = !DILocation(line: 16777216, column: 1, scope: !10)\n"), std::string::npos);
  EXPECT_NE(marked.text.find("!31 = !DILocation(line: 8, column: 1, scope: !10)\n"), std::string::npos);
  EXPECT_NE(marked.text.find("  ret void, !dbg !31\n"), std::string::npos);
}

TEST(InlinedPlaces, marks_become_chains_of_loc) {
  const std::string ptx =
      "\t.loc\t1 16777216 1                     // a.cu:16777216:1\n\tld.global.f32 %f1, [%rd1];\n"
      "\t.loc\t1 8 1\n\tret;\n\t.file\t1 \"/src/a.cu\"\n";
  EXPECT_EQ(restore_inlined_places(ptx, mark_inlined_places(kIr).places),
            "\t.loc\t1 7 26\n"
            "\t.loc\t1 3 10, function_name $L__inlined_name0, inlined_at 1 7 26\n"
            "\t.loc\t2 1 72, function_name $L__inlined_name1, inlined_at 1 3 10\n"
            "\tld.global.f32 %f1, [%rd1];\n\t.loc\t1 8 1\n\tret;\n\t.file\t1 \"/src/a.cu\"\n"
            "\t.file\t2 \"/inc/h \"x\".h\"\n"
            "\t.section\t.debug_str\n\t{\n$L__inlined_name0:\n.b8 95,90,54,104,101,108,112,101,114,118,0\n"
            "$L__inlined_name1:\n.b8 105,110,110,101,114,0\n\t}\n");
}

TEST(InlinedPlaces, damaged_metadata_is_left_alone) {
  for (const char* text : {"!1 = !DILocation(line: 1, inlinedAt: !1)\n",
                           "!1 = !DILocation(line: 1, scope: !2, inlinedAt: !1)\n", "!x = !DILocation(\n", "! = \n"}) {
    const MarkedIr marked = mark_inlined_places(text);
    EXPECT_EQ(marked.text, text);
    EXPECT_TRUE(marked.places.empty());
  }
}

TEST(InlinedPlaces, cluster_dims_move_from_annotations_to_directives) {
  std::string ir =
      "@.str = private unnamed_addr constant [30 x i8] c\"warplens.cluster_dims 2, 4\\00\", section \"llvm.metadata\"\n"
      "@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } "
      "{ ptr @_Z1kv, ptr @.str, ptr @.str.1, i32 40, ptr null }], section \"llvm.metadata\"\nrest\n";
  const auto dims = take_cluster_dims(ir);
  ASSERT_EQ(dims.size(), 1u);
  EXPECT_EQ(ir.find("@llvm.global.annotations"), std::string::npos);
  EXPECT_NE(ir.find("\nrest\n"), std::string::npos);
  EXPECT_EQ(add_cluster_dims(".visible .entry _Z1kvx()\n{\n}\n.visible .entry _Z1kv(\n\t.param .u64 p\n)\n{\nret;\n}\n",
                             dims),
            ".visible .entry _Z1kvx()\n{\n}\n.visible .entry _Z1kv(\n\t.param .u64 p\n)\n.explicitcluster\n"
            ".reqnctapercluster 2, 4, 1\n{\nret;\n}\n");
}

}  // namespace
}  // namespace warplens
