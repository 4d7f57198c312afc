// SPDX-License-Identifier: Apache-2.0
// Chapter: video instructions ("Video Instructions"): arithmetic on whole words with a second operation, and SIMD on
// the halves or bytes of a word. Hardware since Maxwell emulates most of them; compilers write them only for the __v*
// intrinsics and in old inline assembly. Selectors of halves and bytes (a.b0, d.h1) are not taken: the defaults are the
// whole word, and all its parts in order.
#include <algorithm>

#include "ops/chapters.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

/// Part `i` of `bits` bits, signed as `type` is.
int64_t part(uint64_t word, unsigned bits, unsigned i, Type type) {
  const uint64_t v = word >> (bits * i) & low_bits(bits);
  return ptx::is_signed(type) ? as_signed(v, bits) : static_cast<int64_t>(v);
}
int64_t saturated(int64_t v, unsigned bits, bool is_signed) {
  const int64_t most = static_cast<int64_t>(low_bits(is_signed ? bits - 1 : bits)), least = is_signed ? -most - 1 : 0;
  return std::clamp(v, least, most);
}
bool compared(std::string_view cmp, int64_t x, int64_t y) {
  if (cmp == "eq") return x == y;
  if (cmp == "ne") return x != y;
  if (cmp == "lt") return x < y;
  if (cmp == "le") return x <= y;
  return cmp == "gt" ? x > y : x >= y;
}

/// "vabsdiff4" -> "vabsdiff", 8 bits a part.
struct Operation {
  std::string_view name;
  unsigned bits;
};
Operation operation_of(const Instr& in) {
  const std::string_view m = in.def->form.mnemonic;
  const char last = m.back();
  return last == '2'   ? Operation{m.substr(0, m.size() - 1), 16}
         : last == '4' ? Operation{m.substr(0, m.size() - 1), 8}
                       : Operation{m, 32};
}
int64_t computed(const Instr& in, std::string_view name, int64_t x, int64_t y) {
  if (name == "vadd") return x + y;
  if (name == "vsub") return x - y;
  if (name == "vabsdiff") return x > y ? x - y : y - x;
  if (name == "vmin") return std::min(x, y);
  if (name == "vmax") return std::max(x, y);
  if (name == "vavrg") return (x + y + (x + y >= 0)) >> 1;
  if (name == "vset") return compared(in.word("cmp"), x, y);
  const int64_t amount = in.has("wrap") ? y & 31 : std::min<int64_t>(y, 32);
  if (name != "vshl") return x >> amount;
  if (amount < 32) return static_cast<int64_t>(static_cast<uint64_t>(x) << amount);
  constexpr int64_t kBeyond = int64_t{1} << 62;  // a whole word shifted by 32: its low bits are 0, and it saturates
  return x == 0 ? 0 : x > 0 ? kBeyond : -kBeyond;
}

void ref_word(const LaneArgs& a) {
  const Instr& in = a.instr;
  const Type d = in.type("dtype") == Type::kNone ? Type::kU32 : in.type("dtype");
  const int64_t x = part(a.in[0], 32, 0, in.type("atype")), y = part(a.in[1], 32, 0, in.type("btype"));
  int64_t v = computed(in, operation_of(in).name, x, y);
  if (in.has("sat")) v = saturated(v, 32, ptx::is_signed(d));
  const std::string_view second = in.word("op2");
  if (!second.empty()) {
    const int64_t c = part(a.in[2], 32, 0, d);
    v = part(static_cast<uint64_t>(v), 32, 0, d);
    v = second == "add" ? v + c : second == "min" ? std::min(v, c) : std::max(v, c);
  }
  put(a, static_cast<uint64_t>(v));
}

/// With .add the parts' results are added to c; without it they are the parts of d.
void ref_parts(const LaneArgs& a) {
  const Instr& in = a.instr;
  const auto [name, bits] = operation_of(in);
  const Type d = in.type("dtype") == Type::kNone ? Type::kU32 : in.type("dtype");
  const bool adds = in.has("add");
  uint64_t result = adds ? a.in[2] : 0;
  for (unsigned i = 0; i < 32 / bits; ++i) {
    int64_t v = computed(in, name, part(a.in[0], bits, i, in.type("atype")), part(a.in[1], bits, i, in.type("btype")));
    if (in.has("sat")) v = saturated(v, bits, ptx::is_signed(d));
    result += adds ? static_cast<uint64_t>(v) : (static_cast<uint64_t>(v) & low_bits(bits)) << (bits * i);
  }
  put(a, result);
}

#define WL_SECTION "Video Instructions: "
#define WL_TYPES ".dtype = .atype = .btype = {.u32, .s32}"
#define WL_COMPARE ".atype = .btype = {.u32, .s32}; .cmp = {.eq, .ne, .lt, .le, .gt, .ge}"
#define WL_SECOND ".op2 = {.add, .min, .max}"
#define WL_VIDEO(name, major, form_text, ref)                                                                 \
  {                                                                                                           \
    .form = form_text, .spec = {WL_SECTION name, major, 0, major == 2 ? 20 : 30}, .reference = {.lane = ref } \
  }
#define WL_WORD(name)                                                                                             \
  WL_VIDEO(name, 2, name ".dtype.atype.btype{.sat} d:b32, a:b32, b:b32; " WL_TYPES, ref_word),                    \
      WL_VIDEO(name, 2, name ".dtype.atype.btype{.sat}.op2 d:b32, a:b32, b:b32, c:b32; " WL_TYPES "; " WL_SECOND, \
               ref_word)
#define WL_SHIFT_WORDS ".dtype = .atype = {.u32, .s32}; .btype = {.u32}; .mode = {.clamp, .wrap}"
#define WL_SHIFT(name)                                                                                              \
  WL_VIDEO(name, 2, name ".dtype.atype.btype{.sat}.mode d:b32, a:b32, b:b32; " WL_SHIFT_WORDS, ref_word),           \
      WL_VIDEO(name, 2,                                                                                             \
               name ".dtype.atype.btype{.sat}.mode.op2 d:b32, a:b32, b:b32, c:b32; " WL_SHIFT_WORDS "; " WL_SECOND, \
               ref_word)
#define WL_PARTS(name)                                                                                 \
  WL_VIDEO(name, 3, name ".dtype.atype.btype{.sat} d:b32, a:b32, b:b32, c:b32; " WL_TYPES, ref_parts), \
      WL_VIDEO(name, 3, name ".dtype.atype.btype.add d:b32, a:b32, b:b32, c:b32; " WL_TYPES, ref_parts)
#define WL_SET_PARTS(name)                                                                       \
  WL_VIDEO(name, 3, name ".atype.btype.cmp d:b32, a:b32, b:b32, c:b32; " WL_COMPARE, ref_parts), \
      WL_VIDEO(name, 3, name ".atype.btype.cmp.add d:b32, a:b32, b:b32, c:b32; " WL_COMPARE, ref_parts)
constexpr OpDef kRows[] = {
    WL_WORD("vadd"),
    WL_WORD("vsub"),
    WL_WORD("vabsdiff"),
    WL_WORD("vmin"),
    WL_WORD("vmax"),
    WL_SHIFT("vshl"),
    WL_SHIFT("vshr"),
    WL_VIDEO("vset", 2, "vset.atype.btype.cmp d:b32, a:b32, b:b32; " WL_COMPARE, ref_word),
    WL_VIDEO("vset", 2, "vset.atype.btype.cmp.op2 d:b32, a:b32, b:b32, c:b32; " WL_COMPARE "; " WL_SECOND, ref_word),
    {.form =
         "vmad.dtype.atype.btype{.po}{.sat}{.scale} d:b32, a:b32, b:b32, c:b32; " WL_TYPES "; .scale = {.shr7, .shr15}",
     .spec = {WL_SECTION "vmad", 2, 0, 20},
     .unsupported = "vmad is not run"},
    WL_PARTS("vadd2"),
    WL_PARTS("vsub2"),
    WL_PARTS("vavrg2"),
    WL_PARTS("vabsdiff2"),
    WL_PARTS("vmin2"),
    WL_PARTS("vmax2"),
    WL_SET_PARTS("vset2"),
    WL_PARTS("vadd4"),
    WL_PARTS("vsub4"),
    WL_PARTS("vavrg4"),
    WL_PARTS("vabsdiff4"),
    WL_PARTS("vmin4"),
    WL_PARTS("vmax4"),
    WL_SET_PARTS("vset4"),
};

}  // namespace

Chapter video_chapter() { return kRows; }

}  // namespace warplens::ops
