// SPDX-License-Identifier: Apache-2.0
// Chapter: comparison and selection ("Comparison and Selection Instructions", and their half-precision relatives). An
// ordered float comparison is false when an operand is NaN, an unordered one (equ, ltu, ...) true. setp writes p = c
// and q = !c, each joined with a third predicate when the form has one; the packed half form instead writes one
// predicate for each half. set writes all ones, or 1.0 for a float result.
#include <string_view>

#include "ops/chapters.h"
#include "ops/float_format.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

// --- references
/// Floats order like this: -1, 0, 1, or 2 when one is NaN.
int order(const FloatFormat& f, uint64_t a, uint64_t b, bool ftz) {
  if (is_nan(f, a) || is_nan(f, b)) return 2;
  if (ftz) a = flush_subnormal(f, a), b = flush_subnormal(f, b);
  const auto signed_magnitude = [&](uint64_t v) {
    const auto magnitude = static_cast<int64_t>(v & (f.sign_bit() - 1));
    return (v & f.sign_bit()) != 0 ? -magnitude : magnitude;  // -0 and +0 are both 0
  };
  const int64_t x = signed_magnitude(a), y = signed_magnitude(b);
  return x < y ? -1 : x > y ? 1 : 0;
}

bool compare_floats(std::string_view op, int order) {
  if (op == "num") return order != 2;
  if (op == "nan") return order == 2;
  if (order == 2) return op.size() == 3;  // equ, neu, ltu, leu, gtu, geu
  op = op.substr(0, 2);
  if (op == "eq") return order == 0;
  if (op == "ne") return order != 0;
  if (op == "lt") return order < 0;
  if (op == "le") return order <= 0;
  if (op == "gt") return order > 0;
  return order >= 0;
}
template <typename T>
bool compare_integers(std::string_view op, T a, T b) {
  if (op == "eq") return a == b;
  if (op == "ne") return a != b;
  if (op == "lt" || op == "lo") return a < b;
  if (op == "le" || op == "ls") return a <= b;
  if (op == "gt" || op == "hi") return a > b;
  return a >= b;
}
bool compare(const LaneArgs& a, Type type, uint64_t x, uint64_t y) {
  const std::string_view op = a.instr.word("cmp");
  if (ptx::is_float(type)) return compare_floats(op, order(format_of(type), x, y, a.instr.has("ftz")));
  const unsigned width = ptx::bits_of(type);
  const bool unsigned_op = op == "lo" || op == "ls" || op == "hi" || op == "hs";
  if (ptx::is_signed(type) && !unsigned_op) return compare_integers(op, as_signed(x, width), as_signed(y, width));
  return compare_integers(op, x, y);
}
/// The bool operation of the form with the third predicate; without one the comparison itself.
bool combine(const LaneArgs& a, bool c, bool third) {
  const std::string_view op = a.instr.word("bool");
  if (op == "and") return c && third;
  if (op == "or") return c || third;
  if (op == "xor") return c != third;
  return c;
}
bool third(const LaneArgs& a) { return a.in.size() > 2 && a.in[2] != 0; }

void ref_setp(const LaneArgs& a) {
  const bool c = compare(a, type_at(a.instr, 2), a.in[0], a.in[1]);
  a.out[0] = combine(a, c, third(a));
  a.out[1] = combine(a, !c, third(a));
}
/// The half form has no q.
void ref_setp_half(const LaneArgs& a) {
  a.out[0] = combine(a, compare(a, type_at(a.instr, 1), a.in[0], a.in[1]), third(a));
}
void ref_setp_x2(const LaneArgs& a) {
  const Type type = type_at(a.instr, 2);
  for (unsigned i = 0; i < 2; ++i) {
    const bool c = compare(a, type, (a.in[0] >> (16 * i)) & 0xffff, (a.in[1] >> (16 * i)) & 0xffff);
    a.out[i] = combine(a, c, third(a));
  }
}
/// What set writes for true.
uint64_t truth(Type dtype) {
  switch (dtype) {
    case Type::kF32: return 0x3f800000;
    case Type::kF16: return 0x3c00;
    case Type::kBF16: return 0x3f80;
    default: return low_bits(ptx::bits_of(dtype));
  }
}
void ref_set(const LaneArgs& a) {
  const bool c = compare(a, type_at(a.instr, 1), a.in[0], a.in[1]);
  put(a, combine(a, c, third(a)) ? truth(type_at(a.instr, 0)) : 0);
}
void ref_set_x2(const LaneArgs& a) {
  const Type type = type_at(a.instr, 1), dtype = type_at(a.instr, 0);
  const uint64_t yes = dtype == Type::kF16x2 ? 0x3c00 : dtype == Type::kBF16x2 ? 0x3f80 : 0xffff;
  uint64_t d = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const bool c = compare(a, type, (a.in[0] >> (16 * i)) & 0xffff, (a.in[1] >> (16 * i)) & 0xffff);
    if (combine(a, c, third(a))) d |= yes << (16 * i);
  }
  put(a, d);
}
void ref_selp(const LaneArgs& a) { put(a, a.in[2] != 0 ? a.in[0] : a.in[1]); }
/// a when c >= 0, else b; NaN takes b, -0 counts as 0.
void ref_slct(const LaneArgs& a) {
  bool take_a = as_signed(a.in[2], 32) >= 0;
  if (type_at(a.instr, 3) == Type::kF32) {
    const int o = order(kF32, a.in[2], 0, a.instr.has("ftz"));
    take_a = o == 0 || o == 1;
  }
  put(a, take_a ? a.in[0] : a.in[1]);
}

// --- lowerings
FCompare float_compare(std::string_view op) {
  constexpr std::pair<std::string_view, FCompare> kOps[] = {
      {"eq", FCompare::kEq},   {"ne", FCompare::kNe},   {"lt", FCompare::kLt},   {"le", FCompare::kLe},
      {"gt", FCompare::kGt},   {"ge", FCompare::kGe},   {"equ", FCompare::kEqu}, {"neu", FCompare::kNeu},
      {"ltu", FCompare::kLtu}, {"leu", FCompare::kLeu}, {"gtu", FCompare::kGtu}, {"geu", FCompare::kGeu},
      {"num", FCompare::kNum}, {"nan", FCompare::kNan}};
  for (const auto& [name, c] : kOps)
    if (name == op) return c;
  return FCompare::kEq;
}
Compare integer_compare(std::string_view op, bool is_signed) {
  if (op == "eq") return Compare::kEq;
  if (op == "ne") return Compare::kNe;
  if (op == "lo" || (op == "lt" && !is_signed)) return Compare::kUlt;
  if (op == "ls" || (op == "le" && !is_signed)) return Compare::kUle;
  if (op == "hi" || (op == "gt" && !is_signed)) return Compare::kUgt;
  if (op == "hs" || (op == "ge" && !is_signed)) return Compare::kUge;
  if (op == "lt") return Compare::kSlt;
  if (op == "le") return Compare::kSle;
  return op == "gt" ? Compare::kSgt : Compare::kSge;
}
/// Halves are compared as the floats that they are: exact, and the host has the instruction.
LaneValue comparable(LaneBuilder& b, const Instr& in, LaneValue v) {
  if (v.elem == Elem::kF16 || v.elem == Elem::kBF16) {
    if (in.has("ftz")) v = b.ftz(v);
    return b.float_extend(v, Elem::kF32);
  }
  return in.has("ftz") ? b.ftz(v) : v;
}
LaneValue compared(LaneBuilder& b, const Instr& in, LaneValue x, LaneValue y, Type type) {
  const std::string_view op = in.word("cmp");
  if (!ptx::is_float(type)) return b.compare(integer_compare(op, ptx::is_signed(type)), x, y);
  return b.fcompare(float_compare(op), comparable(b, in, x), comparable(b, in, y));
}
LaneValue combined(LaneBuilder& b, const Instr& in, LaneValue c, int third) {
  const std::string_view op = in.word("bool");
  if (op == "and") return b.and_(c, b.src(third));
  if (op == "or") return b.or_(c, b.src(third));
  if (op == "xor") return b.xor_(c, b.src(third));
  return c;
}
void lower_setp(LaneBuilder& b, const Instr& in) {
  const LaneValue c = compared(b, in, b.src(2), b.src(3), type_at(in, 2));
  if (b.present(0)) b.set(0, combined(b, in, c, 4));
  if (b.present(1)) b.set(1, combined(b, in, b.not_(c), 4));
}
void lower_setp_half(LaneBuilder& b, const Instr& in) {
  b.set(0, combined(b, in, compared(b, in, b.src(1), b.src(2), type_at(in, 1)), 3));
}
LaneValue compared_half(LaneBuilder& b, const Instr& in, int first, bool high) {
  const Type type = type_at(in, first);
  const Elem elem = type == Type::kBF16x2 ? Elem::kBF16 : Elem::kF16;
  const auto half = [&](LaneValue v) { return high ? high_half(b, v, elem) : low_half(b, v, elem); };
  return compared(b, in, half(b.src(first)), half(b.src(first + 1)), type);
}
void lower_setp_x2(LaneBuilder& b, const Instr& in) {
  for (int i = 0; i < 2; ++i)
    if (b.present(i)) b.set(i, combined(b, in, compared_half(b, in, 2, i == 1), 4));
}
void lower_set(LaneBuilder& b, const Instr& in) {
  const LaneValue c = combined(b, in, compared(b, in, b.src(1), b.src(2), type_at(in, 1)), 3);
  const Type dtype = type_at(in, 0);
  const Elem elem = codegen::elem_of(dtype);
  b.set(0, b.select(c, b.constant(elem, truth(dtype)), b.constant(elem, 0)));
}
void lower_set_x2(LaneBuilder& b, const Instr& in) {
  const Type dtype = type_at(in, 0);
  const uint32_t yes = dtype == Type::kF16x2 ? 0x3c00 : dtype == Type::kBF16x2 ? 0x3f80 : 0xffff;
  LaneValue d = b.i32(0);
  for (uint32_t i = 0; i < 2; ++i) {
    const LaneValue c = combined(b, in, compared_half(b, in, 1, i == 1), 3);
    d = b.or_(d, b.select(c, b.i32(yes << (16 * i)), b.i32(0)));
  }
  b.set(0, d);
}
void lower_selp(LaneBuilder& b, const Instr&) { b.set(0, b.select(b.src(3), b.src(1), b.src(2))); }
void lower_slct(LaneBuilder& b, const Instr& in) {
  const LaneValue c = b.src(3);
  const LaneValue take_a = type_at(in, 3) == Type::kF32
                               ? b.fcompare(FCompare::kGe, in.has("ftz") ? b.ftz(c) : c, b.f32(0))
                               : b.compare(Compare::kSge, c, b.i32(0));
  b.set(0, b.select(take_a, b.src(1), b.src(2)));
}

#define WL_SECTION "Comparison and Selection Instructions: "
#define WL_HALF "Half Precision Comparison Instructions: "
#define WL_INTEGER_OPS ".cmp = {.eq, .ne, .lt, .le, .gt, .ge, .lo, .ls, .hi, .hs}"
#define WL_FLOAT_OPS ".cmp = {.eq, .ne, .lt, .le, .gt, .ge, .equ, .neu, .ltu, .leu, .gtu, .geu, .num, .nan}"
#define WL_BOOL ".bool = {.and, .or, .xor}"
#define WL_INTEGERS ".type = {.u16, .u32, .u64, .s16, .s32, .s64}"
#define WL_BITS ".cmp = {.eq, .ne}; .type = {.b16, .b32, .b64}"
#define WL_INTEGER_SOURCES ".stype = {.u16, .u32, .u64, .s16, .s32, .s64}"
#define WL_BIT_SOURCES ".cmp = {.eq, .ne}; .stype = {.b16, .b32, .b64}"
constexpr OpDef kRows[] = {
    {.form = "setp.cmp.type d:pred|q:pred, a, b; " WL_INTEGER_OPS "; " WL_INTEGERS,
     .spec = {WL_SECTION "setp", 1, 0, 10},
     .reference = {.lane = ref_setp},
     .lower = lower_setp},
    {.form = "setp.cmp.bool.type d:pred|q:pred, a, b, c:pred; " WL_INTEGER_OPS "; " WL_BOOL "; " WL_INTEGERS,
     .spec = {WL_SECTION "setp", 1, 0, 10},
     .reference = {.lane = ref_setp},
     .lower = lower_setp},
    {.form = "setp.cmp.type d:pred|q:pred, a, b; " WL_BITS,
     .spec = {WL_SECTION "setp", 1, 0, 10},
     .reference = {.lane = ref_setp},
     .lower = lower_setp},
    {.form = "setp.cmp.bool.type d:pred|q:pred, a, b, c:pred; " WL_BOOL "; " WL_BITS,
     .spec = {WL_SECTION "setp", 1, 0, 10},
     .reference = {.lane = ref_setp},
     .lower = lower_setp},
    {.form = "setp.cmp{.ftz}.type d:pred|q:pred, a, b; " WL_FLOAT_OPS "; .type = {.f32}",
     .spec = {WL_SECTION "setp", 1, 0, 10},
     .reference = {.lane = ref_setp},
     .lower = lower_setp},
    {.form = "setp.cmp.bool{.ftz}.type d:pred|q:pred, a, b, c:pred; " WL_FLOAT_OPS "; " WL_BOOL "; .type = {.f32}",
     .spec = {WL_SECTION "setp", 1, 0, 10},
     .reference = {.lane = ref_setp},
     .lower = lower_setp},
    {.form = "setp.cmp.type d:pred|q:pred, a, b; " WL_FLOAT_OPS "; .type = {.f64}",
     .spec = {WL_SECTION "setp", 1, 0, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_setp},
     .lower = lower_setp},
    {.form = "setp.cmp.bool.type d:pred|q:pred, a, b, c:pred; " WL_FLOAT_OPS "; " WL_BOOL "; .type = {.f64}",
     .spec = {WL_SECTION "setp", 1, 0, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_setp},
     .lower = lower_setp},
    {.form = "setp.cmp{.ftz}.type d:pred, a, b; " WL_FLOAT_OPS "; .type = {.f16}",
     .spec = {WL_HALF "setp", 4, 2, 53},
     .reference = {.lane = ref_setp_half},
     .lower = lower_setp_half},
    {.form = "setp.cmp.bool{.ftz}.type d:pred, a, b, c:pred; " WL_FLOAT_OPS "; " WL_BOOL "; .type = {.f16}",
     .spec = {WL_HALF "setp", 4, 2, 53},
     .reference = {.lane = ref_setp_half},
     .lower = lower_setp_half},
    {.form = "setp.cmp.type d:pred, a, b; " WL_FLOAT_OPS "; .type = {.bf16}",
     .spec = {WL_HALF "setp", 7, 8, 90},
     .reference = {.lane = ref_setp_half},
     .lower = lower_setp_half},
    {.form = "setp.cmp.bool.type d:pred, a, b, c:pred; " WL_FLOAT_OPS "; " WL_BOOL "; .type = {.bf16}",
     .spec = {WL_HALF "setp", 7, 8, 90},
     .reference = {.lane = ref_setp_half},
     .lower = lower_setp_half},
    {.form = "setp.cmp{.ftz}.type d:pred|q:pred, a, b; " WL_FLOAT_OPS "; .type = {.f16x2}",
     .spec = {WL_HALF "setp", 4, 2, 53},
     .reference = {.lane = ref_setp_x2},
     .lower = lower_setp_x2},
    {.form = "setp.cmp.bool{.ftz}.type d:pred|q:pred, a, b, c:pred; " WL_FLOAT_OPS "; " WL_BOOL "; .type = {.f16x2}",
     .spec = {WL_HALF "setp", 4, 2, 53},
     .reference = {.lane = ref_setp_x2},
     .lower = lower_setp_x2},
    {.form = "setp.cmp.type d:pred|q:pred, a, b; " WL_FLOAT_OPS "; .type = {.bf16x2}",
     .spec = {WL_HALF "setp", 7, 8, 90},
     .reference = {.lane = ref_setp_x2},
     .lower = lower_setp_x2},
    {.form = "setp.cmp.bool.type d:pred|q:pred, a, b, c:pred; " WL_FLOAT_OPS "; " WL_BOOL "; .type = {.bf16x2}",
     .spec = {WL_HALF "setp", 7, 8, 90},
     .reference = {.lane = ref_setp_x2},
     .lower = lower_setp_x2},
    {.form = "set.cmp.dtype.stype d:dtype, a:stype, b:stype; " WL_INTEGER_OPS
             "; .dtype = {.u32, .s32, .f32}; " WL_INTEGER_SOURCES,
     .spec = {WL_SECTION "set", 1, 0, 10},
     .reference = {.lane = ref_set},
     .lower = lower_set},
    {.form = "set.cmp.bool.dtype.stype d:dtype, a:stype, b:stype, c:pred; " WL_INTEGER_OPS "; " WL_BOOL
             "; .dtype = {.u32, .s32, .f32}; " WL_INTEGER_SOURCES,
     .spec = {WL_SECTION "set", 1, 0, 10},
     .reference = {.lane = ref_set},
     .lower = lower_set},
    {.form = "set.cmp.dtype.stype d:dtype, a:stype, b:stype; .dtype = {.u32, .s32, .f32}; " WL_BIT_SOURCES,
     .spec = {WL_SECTION "set", 1, 0, 10},
     .reference = {.lane = ref_set},
     .lower = lower_set},
    {.form = "set.cmp.bool.dtype.stype d:dtype, a:stype, b:stype, c:pred; " WL_BOOL
             "; .dtype = {.u32, .s32, .f32}; " WL_BIT_SOURCES,
     .spec = {WL_SECTION "set", 1, 0, 10},
     .reference = {.lane = ref_set},
     .lower = lower_set},
    {.form = "set.cmp{.ftz}.dtype.stype d:dtype, a:stype, b:stype; " WL_FLOAT_OPS
             "; .dtype = {.u32, .s32, .f32}; .stype = {.f32, .f64}",
     .spec = {WL_SECTION "set", 1, 0, 10},
     .reference = {.lane = ref_set},
     .lower = lower_set},
    {.form = "set.cmp.bool{.ftz}.dtype.stype d:dtype, a:stype, b:stype, c:pred; " WL_FLOAT_OPS "; " WL_BOOL
             "; .dtype = {.u32, .s32, .f32}; .stype = {.f32, .f64}",
     .spec = {WL_SECTION "set", 1, 0, 10},
     .reference = {.lane = ref_set},
     .lower = lower_set},
    {.form = "set.cmp{.ftz}.dtype.stype d:dtype, a:stype, b:stype; " WL_FLOAT_OPS
             "; .dtype = {.f16, .bf16, .u16, .s16, .u32, .s32}; .stype = {.f16, .bf16}",
     .spec = {WL_HALF "set", 4, 2, 53},
     .reference = {.lane = ref_set},
     .lower = lower_set},
    {.form = "set.cmp.bool{.ftz}.dtype.stype d:dtype, a:stype, b:stype, c:pred; " WL_FLOAT_OPS "; " WL_BOOL
             "; .dtype = {.f16, .bf16, .u16, .s16, .u32, .s32}; .stype = {.f16, .bf16}",
     .spec = {WL_HALF "set", 4, 2, 53},
     .reference = {.lane = ref_set},
     .lower = lower_set},
    {.form = "set.cmp{.ftz}.dtype.stype d:dtype, a:stype, b:stype; " WL_FLOAT_OPS
             "; .dtype = {.f16x2, .bf16x2, .u32, .s32}; .stype = {.f16x2, .bf16x2}",
     .spec = {WL_HALF "set", 4, 2, 53},
     .reference = {.lane = ref_set_x2},
     .lower = lower_set_x2},
    {.form = "set.cmp.bool{.ftz}.dtype.stype d:dtype, a:stype, b:stype, c:pred; " WL_FLOAT_OPS "; " WL_BOOL
             "; .dtype = {.f16x2, .bf16x2, .u32, .s32}; .stype = {.f16x2, .bf16x2}",
     .spec = {WL_HALF "set", 4, 2, 53},
     .reference = {.lane = ref_set_x2},
     .lower = lower_set_x2},
    {.form = "selp.type d, a, b, c:pred; .type = {.b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64}",
     .spec = {WL_SECTION "selp", 1, 0, 10},
     .reference = {.lane = ref_selp},
     .lower = lower_selp},
    {.form = "slct.type.ctype d, a, b, c:ctype; .type = {.b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f32, "
             ".f64}; .ctype = {.s32}",
     .spec = {WL_SECTION "slct", 1, 0, 10},
     .reference = {.lane = ref_slct},
     .lower = lower_slct},
    {.form = "slct{.ftz}.type.ctype d, a, b, c:ctype; .type = {.b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, "
             ".f32, .f64}; .ctype = {.f32}",
     .spec = {WL_SECTION "slct", 1, 0, 10},
     .reference = {.lane = ref_slct},
     .lower = lower_slct},
};

}  // namespace

Chapter compare_chapter() { return kRows; }

}  // namespace warplens::ops
