// SPDX-License-Identifier: Apache-2.0
// Which neighbouring loads from shared memory, and stores to it, become one (machine/joined_accesses.h).
#include "machine/joined_accesses.h"

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "ptx/parser.h"
#include "support/ptx_rows.h"

namespace warplens::machine {
namespace {

/// Where variable s is.
constexpr int64_t kPlace = 8;

/// Bytes of each access to shared memory in order; 0: folded into another. All bases are aligned to 1 << alignment.
std::vector<unsigned> joined(const std::string& body, uint8_t alignment = 4) {
  auto parsed = ptx::parse(
      ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a) {\n"
      "  .shared .align 16 .b8 s[4096];\n  .reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .f32 %f<20>; .reg .pred %p<2>;\n" +
          body + "  ret;\n}\n",
      "test.ptx", test::rows());
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : render(parsed.error()[0]));
  const ptx::Function& function = parsed->functions.at(0);
  AccessList list = accesses_of(function);
  std::vector<AddressBase> bases(function.body.size());
  for (size_t i = 0; i < bases.size(); ++i)
    for (const ptx::Operand& o : function.body[i].operands)
      if (o.tag == ptx::OperandTag::kAddress) bases[i] = {o.reg, o.reg == ptx::kNoReg ? kPlace : 0, alignment};
  join_accesses(list, function, ir::build(function), bases);
  std::vector<unsigned> bytes;
  for (const Access& a : list.accesses)
    if (a.space == events::Space::kShared) bytes.push_back(a.form == events::Form::kFolded ? 0 : a.bytes);
  return bytes;
}

using Bytes = std::vector<unsigned>;

TEST(JoinedAccesses, four_aligned_words_are_one_load) {
  EXPECT_EQ(joined("ld.shared.f32 %f1, [%r1+16]; ld.shared.f32 %f2, [%r1+20];"
                   "ld.shared.f32 %f3, [%r1+24]; ld.shared.f32 %f4, [%r1+28];"),
            (Bytes{16, 0, 0, 0}));
}

TEST(JoinedAccesses, their_order_does_not_matter) {
  EXPECT_EQ(joined("ld.shared.f32 %f1, [%r1+12]; ld.shared.f32 %f2, [%r1+4]; add.f32 %f9, %f1, %f2;"
                   "ld.shared.f32 %f3, [%r1]; ld.shared.f32 %f4, [%r1+8];"),
            (Bytes{0, 0, 16, 0}));
}

TEST(JoinedAccesses, only_what_the_alignment_allows) {
  const std::string four =
      "ld.shared.f32 %f1, [%r1]; ld.shared.f32 %f2, [%r1+4]; ld.shared.f32 %f3, [%r1+8]; ld.shared.f32 %f4, [%r1+12];";
  EXPECT_EQ(joined(four, 3), (Bytes{8, 0, 8, 0}));
  EXPECT_EQ(joined(four, 2), (Bytes{4, 4, 4, 4}));
  EXPECT_EQ(joined("ld.shared.f32 %f1, [%r1+4]; ld.shared.f32 %f2, [%r1+8]; ld.shared.f32 %f3, [%r1+12];"),
            (Bytes{4, 8, 0}));
}

TEST(JoinedAccesses, not_across_what_may_change_the_memory) {
  EXPECT_EQ(joined("ld.shared.f32 %f1, [%r1]; st.shared.f32 [%r2], %f1; ld.shared.f32 %f2, [%r1+4];"),
            (Bytes{4, 4, 4}));
  EXPECT_EQ(joined("ld.shared.f32 %f1, [%r1]; bar.sync 0; ld.shared.f32 %f2, [%r1+4];"), (Bytes{4, 4}));
  EXPECT_EQ(joined("ld.shared.f32 %f1, [%r1]; st.global.f32 [%rd1], %f1; ld.shared.f32 %f2, [%r1+4];"), (Bytes{8, 0}));
  EXPECT_EQ(joined("ld.volatile.shared.f32 %f1, [%r1]; ld.volatile.shared.f32 %f2, [%r1+4];"), (Bytes{4, 4}));
  EXPECT_EQ(joined("ld.volatile.shared.f32 %f1, [%r1]; ld.shared.f32 %f2, [%r1+4];"), (Bytes{4, 4}));
}

TEST(JoinedAccesses, not_across_a_new_value_of_the_base_or_a_branch) {
  EXPECT_EQ(joined("ld.shared.f32 %f1, [%r1]; add.u32 %r1, %r1, 16; ld.shared.f32 %f2, [%r1+4];"), (Bytes{4, 4}));
  EXPECT_EQ(joined("ld.shared.u32 %r1, [%r1]; ld.shared.u32 %r2, [%r1+4];"), (Bytes{4, 4}));
  EXPECT_EQ(joined("ld.shared.f32 %f1, [%r1]; @%p1 bra L; ld.shared.f32 %f2, [%r1+4]; L:\n"), (Bytes{4, 4}));
  EXPECT_EQ(joined("ld.shared.f32 %f1, [%r1]; @%p1 ld.shared.f32 %f2, [%r1+4];"), (Bytes{4, 4}));
}

TEST(JoinedAccesses, stores_too) {
  EXPECT_EQ(joined("st.shared.f32 [%r1+8], %f1; st.shared.f32 [%r1+12], %f2;"), (Bytes{8, 0}));
  EXPECT_EQ(joined("st.shared.f32 [%r1+4], %f1; st.shared.f32 [%r1], %f2; st.shared.v2.f32 [%r1+8], {%f1, %f2};"),
            (Bytes{0, 16, 0}));
  EXPECT_EQ(joined("st.shared.f32 [%r1+4], %f1; st.shared.f32 [%r1+8], %f2;"), (Bytes{4, 4}));
  EXPECT_EQ(joined("st.shared.f32 [%r1], %f1; st.shared.f32 [%r1+4], %f2;", 2), (Bytes{4, 4}));
  EXPECT_EQ(joined("st.shared.f32 [%r1], %f1; ld.global.f32 %f2, [%rd1]; st.shared.f32 [%r1+4], %f2;"), (Bytes{8, 0}));
}

TEST(JoinedAccesses, stores_not_across_what_may_see_them) {
  const auto between = [](const std::string& what) {
    return joined("st.shared.f32 [%r1], %f1; " + what + " st.shared.f32 [%r1+4], %f2;");
  };
  EXPECT_EQ(between("ld.shared.f32 %f3, [%r2];"), (Bytes{4, 4, 4}));
  EXPECT_EQ(between("st.shared.f32 [%r2], %f3;"), (Bytes{4, 4, 4}));
  EXPECT_EQ(between("bar.sync 0;"), (Bytes{4, 4}));
  EXPECT_EQ(between("add.u32 %r1, %r1, 8;"), (Bytes{4, 4}));
  EXPECT_EQ(between("st.shared.f32 [%r1], %f3;"), (Bytes{4, 8, 0}));  // only the second of two at one place
  EXPECT_EQ(joined("st.volatile.shared.f32 [%r1], %f1; st.volatile.shared.f32 [%r1+4], %f2;"), (Bytes{4, 4}));
  EXPECT_EQ(joined("st.shared.f32 [%r1], %f1; @%p1 st.shared.f32 [%r1+4], %f2;"), (Bytes{4, 4}));
}

TEST(JoinedAccesses, variables_by_name) {
  EXPECT_EQ(joined("ld.shared.f32 %f1, [s]; ld.shared.f32 %f2, [s+4];"), (Bytes{8, 0}));
  EXPECT_EQ(joined("ld.shared.f32 %f1, [s]; ld.shared.f32 %f2, [s+4]; ld.shared.v2.f32 {%f3, %f4}, [s+8];"),
            (Bytes{8, 0, 8}));  // s is at 8: its first 16 bytes are not one piece
  EXPECT_EQ(joined("st.shared.f32 [s+8], %f1; st.shared.f32 [s+12], %f2; st.shared.v2.f32 [s+16], {%f3, %f4};"),
            (Bytes{16, 0, 0}));
}

}  // namespace
}  // namespace warplens::machine
