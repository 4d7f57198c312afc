// SPDX-License-Identifier: Apache-2.0
// Chapter: logic, shifts and bits inside a word ("Logic and Shift Instructions", and the bit-field and bit-counting
// instructions that the manual lists under integer arithmetic). Shift amounts beyond the width give 0 or all sign bits;
// bit-field positions and lengths are taken from the low 8 bits of their operands, but for 64-bit positions, which an
// H200 uses whole [measured; the manual says 8 bits].
#include <algorithm>
#include <utility>

#include "ops/chapters.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

unsigned width_of(const LaneArgs& a) { return ptx::bits_of(type_at(a.instr, 1)); }
bool is_signed(const Instr& in) { return ptx::is_signed(type_at(in, 1)); }
bool bit(uint64_t v, unsigned i) { return ((v >> i) & 1) != 0; }

/// Where a bit field begins; any position beyond the word will do as well as 255.
unsigned field_position(const LaneArgs& a, size_t i) {
  return static_cast<unsigned>(width_of(a) == 64 ? std::min<uint64_t>(a.in[i], 255) : a.in[i] & 0xff);
}

// --- references
void ref_and(const LaneArgs& a) { put(a, a.in[0] & a.in[1]); }
void ref_or(const LaneArgs& a) { put(a, a.in[0] | a.in[1]); }
void ref_xor(const LaneArgs& a) { put(a, a.in[0] ^ a.in[1]); }
void ref_not(const LaneArgs& a) { put(a, ~a.in[0]); }
void ref_cnot(const LaneArgs& a) { put(a, a.in[0] == 0 ? 1 : 0); }

/// Bit i of the result is bit (a_i b_i c_i) of the look-up table.
uint64_t look_up(const LaneArgs& a) {
  uint64_t d = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned index = (bit(a.in[0], i) ? 4u : 0u) | (bit(a.in[1], i) ? 2u : 0u) | (bit(a.in[2], i) ? 1u : 0u);
    d |= uint64_t{bit(a.in[3], index)} << i;
  }
  return d;
}
void ref_lop3(const LaneArgs& a) { put(a, look_up(a)); }
void ref_lop3_pred(const LaneArgs& a) {
  const uint64_t d = look_up(a);
  a.out[0] = d;
  a.out[1] = a.instr.has("or") ? (d != 0 || a.in[4] != 0) : (d != 0 && a.in[4] != 0);
}

void ref_shl(const LaneArgs& a) { put(a, a.in[1] >= width_of(a) ? 0 : a.in[0] << a.in[1]); }
void ref_shr(const LaneArgs& a) {
  const unsigned width = width_of(a);
  if (is_signed(a.instr))
    put(a, static_cast<uint64_t>(as_signed(a.in[0], width) >> std::min<uint64_t>(a.in[1], width - 1)));
  else
    put(a, a.in[1] >= width ? 0 : a.in[0] >> a.in[1]);
}
/// The pair b:a as 64 bits, shifted; the left form gives its upper word, the right form its lower.
void ref_shf(const LaneArgs& a) {
  const uint64_t pair = a.in[1] << 32 | a.in[0];
  const uint64_t n = a.instr.has("clamp") ? std::min<uint64_t>(a.in[2], 32) : a.in[2] & 31;
  put(a, a.instr.has("l") ? (n == 0 ? pair >> 32 : pair >> (32 - n)) : pair >> n);
}

void ref_popc(const LaneArgs& a) { put(a, static_cast<uint64_t>(std::popcount(a.in[0]))); }
void ref_clz(const LaneArgs& a) { put(a, static_cast<uint64_t>(std::countl_zero(a.in[0])) - (64 - width_of(a))); }
/// Position of the highest bit that differs from the sign; or how far to shift left to bring it to the top.
void ref_bfind(const LaneArgs& a) {
  const unsigned width = width_of(a);
  const bool negative = is_signed(a.instr) && bit(a.in[0], width - 1);
  const uint64_t v = negative ? ~a.in[0] & low_bits(width) : a.in[0];
  if (v == 0) return put(a, 0xffffffff);
  const auto position = static_cast<unsigned>(63 - std::countl_zero(v));
  put(a, a.instr.has("shiftamt") ? width - 1 - position : position);
}
void ref_brev(const LaneArgs& a) {
  uint64_t d = 0;
  for (unsigned i = 0, width = width_of(a); i < width; ++i) d |= uint64_t{bit(a.in[0], i)} << (width - 1 - i);
  put(a, d);
}
/// The n-th set bit of the mask, counted from a base upwards or downwards.
void ref_fns(const LaneArgs& a) {
  const uint64_t mask = a.in[0], base = a.in[1];
  const int64_t offset = as_signed(a.in[2], 32);
  put(a, 0xffffffff);
  if (offset == 0) {
    if (base < 32 && bit(mask, static_cast<unsigned>(base))) put(a, base);
    return;
  }
  int64_t count = (offset < 0 ? -offset : offset) - 1;
  for (int64_t pos = static_cast<int64_t>(base); pos >= 0 && pos < 32; pos += offset > 0 ? 1 : -1) {
    if (!bit(mask, static_cast<unsigned>(pos))) continue;
    if (count-- == 0) return put(a, static_cast<uint64_t>(pos));
  }
}
void ref_bfe(const LaneArgs& a) {
  const unsigned top = width_of(a) - 1;
  const unsigned pos = field_position(a, 1), len = static_cast<unsigned>(a.in[2] & 0xff);
  const bool sign = is_signed(a.instr) && len != 0 && bit(a.in[0], std::min(pos + len - 1, top));
  uint64_t d = 0;
  for (unsigned i = 0; i <= top; ++i) {
    const bool inside = i < len && pos + i <= top;
    d |= uint64_t{inside ? bit(a.in[0], pos + i) : sign} << i;
  }
  put(a, d);
}
void ref_bfi(const LaneArgs& a) {
  const unsigned top = width_of(a) - 1;
  const unsigned pos = field_position(a, 2), len = static_cast<unsigned>(a.in[3] & 0xff);
  uint64_t d = a.in[1];
  for (unsigned i = 0; i < len && pos + i <= top; ++i) {
    d &= ~(uint64_t{1} << (pos + i));
    d |= uint64_t{bit(a.in[0], i)} << (pos + i);
  }
  put(a, d);
}
void ref_bmsk(const LaneArgs& a) {
  const bool clamp = a.instr.has("clamp");
  const uint64_t pos = a.in[0] & 31, width = a.in[1] & 31;
  uint64_t from = low_bits(32) << pos, beyond = low_bits(32) << (pos + width);
  if (clamp && a.in[0] >= 32) from = 0;
  if (pos + width >= 32 || (clamp && (a.in[0] >= 32 || a.in[1] >= 32))) beyond = 0;
  put(a, from & ~beyond);
}
void ref_szext(const LaneArgs& a) {
  const uint64_t count = a.in[1] & 31;
  if (a.instr.has("clamp") && a.in[1] >= 32) return put(a, a.in[0]);
  const uint64_t above = low_bits(32) << count;
  const bool sign = a.instr.type() == Type::kS32 && count != 0 && bit(a.in[0], static_cast<unsigned>(count - 1));
  put(a, (a.in[0] & ~above) | (sign ? above : 0));
}

/// Which byte of b:a each result byte takes, and whether only its sign is wanted (+8).
unsigned prmt_selector(std::string_view mode, unsigned c, unsigned i) {
  if (mode.empty()) return (c >> (4 * i)) & 15;
  const unsigned k = c & 3;
  if (mode == "f4e") return k + i;
  if (mode == "b4e") return (k + 8 - i) & 7;
  if (mode == "rc8") return k;
  if (mode == "ecl") return std::max(k, i);
  if (mode == "ecr") return std::min(k, i);
  return (k & 1) * 2 + (i & 1);  // rc16
}
void ref_prmt(const LaneArgs& a) {
  const uint64_t pair = a.in[1] << 32 | a.in[0];
  uint64_t d = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned s = prmt_selector(a.instr.word("mode"), static_cast<unsigned>(a.in[2]), i);
    const uint64_t byte = (pair >> (8 * (s & 7))) & 0xff;
    d |= ((s & 8) == 0 ? byte : (byte & 0x80) != 0 ? uint64_t{0xff} : uint64_t{0}) << (8 * i);
  }
  put(a, d);
}

// --- lowerings
void lower_cnot(LaneBuilder& b, const Instr&) {
  const LaneValue a = b.src(1);
  b.set(0, b.zext(b.compare(Compare::kEq, a, b.constant(a.elem, 0)), a.elem));
}

/// A function of two inputs from its truth table: bit (2x + y).
LaneValue two_inputs(LaneBuilder& b, unsigned table, LaneValue x, LaneValue y) {
  switch (table) {
    case 0x0: return b.constant(x.elem, 0);
    case 0xf: return b.constant(x.elem, ~uint64_t{0});
    case 0xc: return x;
    case 0x3: return b.not_(x);
    case 0xa: return y;
    case 0x5: return b.not_(y);
    case 0x8: return b.and_(x, y);
    case 0x7: return b.not_(b.and_(x, y));
    case 0xe: return b.or_(x, y);
    case 0x1: return b.not_(b.or_(x, y));
    case 0x6: return b.xor_(x, y);
    case 0x9: return b.not_(b.xor_(x, y));
    case 0x4: return b.and_(x, b.not_(y));
    case 0xb: return b.not_(b.and_(x, b.not_(y)));
    case 0x2: return b.and_(b.not_(x), y);
    default: return b.not_(b.and_(b.not_(x), y));  // 0xd
  }
}
LaneValue look_up(LaneBuilder& b, unsigned table, int first) {
  const LaneValue x = b.src(first), y = b.src(first + 1), z = b.src(first + 2);
  const unsigned when_clear = table & 15, when_set = table >> 4;
  if (when_clear == when_set) return two_inputs(b, when_set, y, z);
  if ((when_clear ^ when_set) == 15) return b.xor_(x, two_inputs(b, when_clear, y, z));
  const LaneValue set = b.and_(x, two_inputs(b, when_set, y, z));
  if (when_clear == 0) return set;
  return b.or_(set, b.and_(b.not_(x), two_inputs(b, when_clear, y, z)));
}
void lower_lop3(LaneBuilder& b, const Instr& in) {
  b.set(0, look_up(b, static_cast<unsigned>(in.operands[4].imm & 0xff), 1));
}
void lower_lop3_pred(LaneBuilder& b, const Instr& in) {
  const LaneValue d = look_up(b, static_cast<unsigned>(in.operands[5].imm & 0xff), 2);
  const LaneValue any = b.compare(Compare::kNe, d, b.i32(0)), q = b.src(6);
  const LaneValue p = in.has("or") ? b.or_(any, q) : b.and_(any, q);
  if (b.present(0)) b.set(0, d);
  if (b.present(1)) b.set(1, p);
}

void lower_shl(LaneBuilder& b, const Instr&) { b.set(0, b.shl(b.src(1), b.src(2))); }
void lower_shr(LaneBuilder& b, const Instr& in) {
  b.set(0, is_signed(in) ? b.ashr(b.src(1), b.src(2)) : b.lshr(b.src(1), b.src(2)));
}
void lower_shf(LaneBuilder& b, const Instr& in) {
  const LaneValue lo = b.src(1), hi = b.src(2);
  const LaneValue n = in.has("clamp") ? b.min(b.src(3), b.i32(32), false) : b.and_(b.src(3), b.i32(31));
  if (in.has("l") && in.has("wrap")) return b.set(0, b.funnel_left(hi, lo, n));
  const LaneValue pair = b.or_(b.shl(b.zext(hi, Elem::kI64), b.i32(32)), b.zext(lo, Elem::kI64));
  const LaneValue right = in.has("l") ? b.sub(b.i32(32), n) : n;
  b.set(0, b.trunc(b.lshr(pair, right), Elem::kI32));
}

LaneValue as_i32(LaneBuilder& b, LaneValue v) { return v.elem == Elem::kI64 ? b.trunc(v, Elem::kI32) : v; }
void lower_popc(LaneBuilder& b, const Instr&) { b.set(0, as_i32(b, b.popcount(b.src(1)))); }
void lower_clz(LaneBuilder& b, const Instr&) { b.set(0, as_i32(b, b.count_leading_zeros(b.src(1)))); }
void lower_bfind(LaneBuilder& b, const Instr& in) {
  LaneValue a = b.src(1);
  const uint32_t width = codegen::bits_of(a.elem);
  if (is_signed(in)) a = b.xor_(a, b.ashr(a, b.i32(width - 1)));
  const LaneValue zeros = as_i32(b, b.count_leading_zeros(a));
  if (!in.has("shiftamt")) return b.set(0, b.sub(b.i32(width - 1), zeros));  // nothing found: -1
  b.set(0, b.select(b.compare(Compare::kEq, zeros, b.i32(width)), b.i32(~0u), zeros));
}

/// Ones in the lowest `n` bits; all of them when n >= width.
LaneValue ones(LaneBuilder& b, Elem elem, LaneValue n) {
  return b.sub(b.shl(b.constant(elem, 1), n), b.constant(elem, 1));
}
LaneValue field_position(LaneBuilder& b, LaneValue a, LaneValue pos) {
  return a.elem == Elem::kI64 ? b.min(pos, b.i32(255), false) : b.and_(pos, b.i32(0xff));
}
void lower_bfe(LaneBuilder& b, const Instr& in) {
  const LaneValue a = b.src(1), pos = field_position(b, a, b.src(2)), len = b.and_(b.src(3), b.i32(0xff));
  const LaneValue field = b.lshr(a, pos), mask = ones(b, a.elem, len);
  if (!is_signed(in)) return b.set(0, b.and_(field, mask));
  // Bits at or above len, or beyond the top of the word, take the sign: bit min(pos + len - 1, top) of a.
  const uint32_t top = codegen::bits_of(a.elem) - 1;
  const LaneValue valid = b.and_(mask, b.lshr(b.constant(a.elem, ~uint64_t{0}), pos));
  const LaneValue at = b.min(b.sub(b.add(pos, len), b.i32(1)), b.i32(top), false);  // len 0 at pos 0 wraps: top
  const LaneValue sign_bit = b.and_(b.lshr(a, at), b.constant(a.elem, 1));
  const LaneValue wanted = b.compare(Compare::kNe, len, b.i32(0));
  const LaneValue sign = b.and_(b.neg(sign_bit), all_bits(b, wanted, a.elem));
  b.set(0, b.or_(b.and_(field, valid), b.and_(sign, b.not_(valid))));
}
void lower_bfi(LaneBuilder& b, const Instr&) {
  const LaneValue a = b.src(1), pos = field_position(b, a, b.src(3)), len = b.and_(b.src(4), b.i32(0xff));
  const LaneValue mask = b.shl(ones(b, a.elem, len), pos);
  b.set(0, b.or_(b.and_(b.src(2), b.not_(mask)), b.and_(b.shl(a, pos), mask)));
}
void lower_bmsk(LaneBuilder& b, const Instr& in) {
  LaneValue pos = b.src(1), width = b.src(2);
  if (!in.has("clamp")) {
    pos = b.and_(pos, b.i32(31));
    width = b.and_(width, b.i32(31));
  }
  b.set(0, b.shl(ones(b, Elem::kI32, width), pos));
}
void lower_szext(LaneBuilder& b, const Instr& in) {
  const LaneValue a = b.src(1);
  const LaneValue count = in.has("clamp") ? b.min(b.src(2), b.i32(32), false) : b.and_(b.src(2), b.i32(31));
  const LaneValue up = b.sub(b.i32(32), count);  // count 0: shifts by 32 leave nothing
  if (in.type() != Type::kS32) return b.set(0, b.lshr(b.shl(a, up), up));
  b.set(0, b.ashr(b.shl(a, up), up));
}

/// One result byte, in place, from a selector nibble known only at run time.
LaneValue prmt_byte(LaneBuilder& b, LaneValue pair, LaneValue selector, uint32_t i) {
  const LaneValue at = b.shl(b.and_(selector, b.i32(7)), b.i32(3));
  const LaneValue byte = b.and_(b.trunc(b.lshr(pair, at), Elem::kI32), b.i32(0xff));
  const LaneValue sign = b.sub(b.i32(0), b.lshr(byte, b.i32(7)));
  const LaneValue only_sign = b.compare(Compare::kNe, b.and_(selector, b.i32(8)), b.i32(0));
  return b.shl(b.and_(b.select(only_sign, sign, byte), b.i32(0xff)), b.i32(8 * i));
}
void lower_prmt(LaneBuilder& b, const Instr& in) {
  const LaneValue pair = b.or_(b.shl(b.zext(b.src(2), Elem::kI64), b.i32(32)), b.zext(b.src(1), Elem::kI64));
  const std::string_view mode = in.word("mode");
  const bool known = in.operands[3].tag == ptx::OperandTag::kImm;
  if (!known && !mode.empty()) return b.call_reference();  // a mode with a run-time selector has not been met yet
  LaneValue d = b.i32(0);
  for (uint32_t i = 0; i < 4; ++i) {
    if (!known) {
      d = b.or_(d, prmt_byte(b, pair, b.lshr(b.src(3), b.i32(4 * i)), i));
      continue;
    }
    const unsigned s = prmt_selector(mode, static_cast<unsigned>(in.operands[3].imm), i);
    const LaneValue byte = b.and_(b.trunc(b.lshr(pair, b.i32(8 * (s & 7))), Elem::kI32), b.i32(0xff));
    const LaneValue sign = b.and_(b.sub(b.i32(0), b.lshr(byte, b.i32(7))), b.i32(0xff));
    d = b.or_(d, b.shl((s & 8) != 0 ? sign : byte, b.i32(8 * i)));
  }
  b.set(0, d);
}

#define WL_SECTION "Logic and Shift Instructions: "
#define WL_INTEGER "Integer Arithmetic Instructions: "
constexpr OpDef kRows[] = {
    {.form = "and.type d, a, b; .type = {.pred, .b16, .b32, .b64}",
     .spec = {WL_SECTION "and", 1, 0, 10},
     .reference = {.lane = ref_and},
     .lower = lower_binary<&LaneBuilder::and_>},
    {.form = "or.type d, a, b; .type = {.pred, .b16, .b32, .b64}",
     .spec = {WL_SECTION "or", 1, 0, 10},
     .reference = {.lane = ref_or},
     .lower = lower_binary<&LaneBuilder::or_>},
    {.form = "xor.type d, a, b; .type = {.pred, .b16, .b32, .b64}",
     .spec = {WL_SECTION "xor", 1, 0, 10},
     .reference = {.lane = ref_xor},
     .lower = lower_binary<&LaneBuilder::xor_>},
    {.form = "not.type d, a; .type = {.pred, .b16, .b32, .b64}",
     .spec = {WL_SECTION "not", 1, 0, 10},
     .reference = {.lane = ref_not},
     .lower = lower_unary<&LaneBuilder::not_>},
    {.form = "cnot.type d, a; .type = {.b16, .b32, .b64}",
     .spec = {WL_SECTION "cnot", 1, 0, 10},
     .reference = {.lane = ref_cnot},
     .lower = lower_cnot},
    {.form = "lop3.type d, a, b, c, immLut:imm:b32; .type = {.b32}",
     .spec = {WL_SECTION "lop3", 4, 3, 50},
     .reference = {.lane = ref_lop3},
     .lower = lower_lop3},
    {.form = "lop3.op.type d|p:pred, a, b, c, immLut:imm:b32, q:pred; .op = {.or, .and}; .type = {.b32}",
     .spec = {WL_SECTION "lop3", 8, 2, 70},
     .reference = {.lane = ref_lop3_pred},
     .lower = lower_lop3_pred},
    {.form = "shl.type d, a, b:u32; .type = {.b16, .b32, .b64}",
     .spec = {WL_SECTION "shl", 1, 0, 10},
     .reference = {.lane = ref_shl},
     .lower = lower_shl},
    {.form = "shr.type d, a, b:u32; .type = {.b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64}",
     .spec = {WL_SECTION "shr", 1, 0, 10},
     .reference = {.lane = ref_shr},
     .lower = lower_shr},
    {.form = "shf.direction.mode.type d, a, b, c:u32; .direction = {.l, .r}; .mode = {.clamp, .wrap}; .type = {.b32}",
     .spec = {WL_SECTION "shf", 3, 1, 32},
     .reference = {.lane = ref_shf},
     .lower = lower_shf},
    {.form = "popc.type d:u32, a; .type = {.b32, .b64}",
     .spec = {WL_INTEGER "popc", 2, 0, 20},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_popc},
     .lower = lower_popc},
    {.form = "clz.type d:u32, a; .type = {.b32, .b64}",
     .spec = {WL_INTEGER "clz", 2, 0, 20},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_clz},
     .lower = lower_clz},
    {.form = "bfind{.shiftamt}.type d:u32, a; .type = {.u32, .u64, .s32, .s64}",
     .spec = {WL_INTEGER "bfind", 2, 0, 20},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_bfind},
     .lower = lower_bfind},
    {.form = "brev.type d, a; .type = {.b32, .b64}",
     .spec = {WL_INTEGER "brev", 2, 0, 20},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_brev},
     .lower = lower_unary<&LaneBuilder::bit_reverse>},
    {.form = "fns.type d, mask, base:b32, offset:s32; .type = {.b32}",
     .spec = {WL_INTEGER "fns", 6, 0, 30},
     .reference = {.lane = ref_fns}},
    {.form = "bfe.type d, a, b:u32, c:u32; .type = {.u32, .u64, .s32, .s64}",
     .spec = {WL_INTEGER "bfe", 2, 0, 20},
     .reference = {.lane = ref_bfe},
     .lower = lower_bfe},
    {.form = "bfi.type d, a, b, c:u32, len:u32; .type = {.b32, .b64}",
     .spec = {WL_INTEGER "bfi", 2, 0, 20},
     .reference = {.lane = ref_bfi},
     .lower = lower_bfi},
    {.form = "bmsk.mode.type d, a:u32, b:u32; .mode = {.clamp, .wrap}; .type = {.b32}",
     .spec = {WL_INTEGER "bmsk", 7, 6, 70},
     .reference = {.lane = ref_bmsk},
     .lower = lower_bmsk},
    {.form = "szext.mode.type d, a, b:u32; .mode = {.clamp, .wrap}; .type = {.u32, .s32}",
     .spec = {WL_INTEGER "szext", 7, 6, 70},
     .reference = {.lane = ref_szext},
     .lower = lower_szext},
    {.form = "prmt.type{.mode} d, a, b, c; .type = {.b32}; .mode = {.f4e, .b4e, .rc8, .ecl, .ecr, .rc16}",
     .spec = {"Data Movement and Conversion Instructions: prmt", 2, 0, 20},
     .reference = {.lane = ref_prmt},
     .lower = lower_prmt},
};
#undef WL_SECTION
#undef WL_INTEGER

}  // namespace

Chapter logic_chapter() { return kRows; }

}  // namespace warplens::ops
