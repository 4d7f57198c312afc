// SPDX-License-Identifier: Apache-2.0
// Chapter: extended-precision arithmetic ("Extended-Precision Integer Arithmetic Instructions"). The carry flag CC.CF
// that links these instructions is an operand here that the text does not show; the parser keeps it in a predicate
// register of the function, so that liveness, divergence and both executors treat it like any other register. For
// subtraction the flag is the borrow.
#include "ops/chapters.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

using U128 = unsigned __int128;

unsigned width_of(const LaneArgs& a) { return ptx::bits_of(type_at(a.instr, 0)); }
bool writes_flag(const Instr& in) { return in.has("cc"); }

// --- references
/// Sources of the sum or difference, in the operands' order.
void finish(const LaneArgs& a, U128 value) {
  put(a, static_cast<uint64_t>(value));
  if (writes_flag(a.instr)) a.out[1] = ((value >> width_of(a)) & 1) != 0;
}
void ref_add(const LaneArgs& a) { finish(a, U128{a.in[0]} + a.in[1] + (a.in.size() > 2 ? a.in[2] : 0)); }
void ref_sub(const LaneArgs& a) { finish(a, U128{a.in[0]} - a.in[1] - (a.in.size() > 2 ? a.in[2] : 0)); }
void ref_mad(const LaneArgs& a) {
  const unsigned width = width_of(a);
  const bool sign = ptx::is_signed(type_at(a.instr, 0));
  const auto wide = [&](uint64_t v) { return sign ? static_cast<U128>(__int128{as_signed(v, width)}) : U128{v}; };
  const U128 product = wide(a.in[0]) * wide(a.in[1]);
  const auto part = static_cast<uint64_t>(a.instr.has("hi") ? product >> width : product) & low_bits(width);
  finish(a, U128{part} + a.in[2] + (a.in.size() > 3 ? a.in[3] : 0));
}

// --- lowerings
/// Index in the form of the first source: behind d and, with .cc, the flag.
int first_source(const Instr& in) { return writes_flag(in) ? 2 : 1; }
void add_with_carry(LaneBuilder& b, const Instr& in, LaneValue x, LaneValue y, int carry_at) {
  const LaneValue partial = b.add(x, y);
  LaneValue carry = b.compare(Compare::kUlt, partial, x), sum = partial;
  if (carry_at >= 0) {
    sum = b.add(partial, b.zext(b.src(carry_at), partial.elem));
    carry = b.or_(carry, b.compare(Compare::kUlt, sum, partial));
  }
  b.set(0, sum);
  if (writes_flag(in)) b.set(1, carry);
}
int carry_operand(const Instr& in, int sources) {
  const int at = first_source(in) + sources;
  return at < static_cast<int>(in.operands.size()) ? at : -1;
}
void lower_add(LaneBuilder& b, const Instr& in) {
  const int s = first_source(in);
  add_with_carry(b, in, b.src(s), b.src(s + 1), carry_operand(in, 2));
}
void lower_sub(LaneBuilder& b, const Instr& in) {
  const int s = first_source(in), carry_at = carry_operand(in, 2);
  const LaneValue x = b.src(s), y = b.src(s + 1), partial = b.sub(x, y);
  LaneValue borrow = b.compare(Compare::kUlt, x, y), difference = partial;
  if (carry_at >= 0) {
    const LaneValue in_borrow = b.zext(b.src(carry_at), x.elem);
    difference = b.sub(partial, in_borrow);
    borrow = b.or_(borrow, b.compare(Compare::kUlt, partial, in_borrow));
  }
  b.set(0, difference);
  if (writes_flag(in)) b.set(1, borrow);
}
void lower_mad(LaneBuilder& b, const Instr& in) {
  const int s = first_source(in);
  const LaneValue x = b.src(s), y = b.src(s + 1);
  const bool sign = ptx::is_signed(type_at(in, 0));
  if (!in.has("hi")) return add_with_carry(b, in, b.mul(x, y), b.src(s + 2), carry_operand(in, 3));
  if (x.elem == Elem::kI64) return b.call_reference();
  const auto wide = [&](LaneValue v) { return sign ? b.sext(v, Elem::kI64) : b.zext(v, Elem::kI64); };
  const LaneValue high = b.trunc(b.lshr(b.mul(wide(x), wide(y)), b.i32(32)), Elem::kI32);
  add_with_carry(b, in, high, b.src(s + 2), carry_operand(in, 3));
}

#define WL_SECTION "Extended-Precision Integer Arithmetic Instructions: "
#define WL_TYPES "; .type = {.u32, .s32, .u64, .s64, .b32, .b64}"
#define WL_MODE "; .mode = {.hi, .lo}"
constexpr OpDef kRows[] = {
    {.form = "add.cc.type d, cout:carry, a, b" WL_TYPES,
     .spec = {WL_SECTION "add.cc", 1, 2, 10},
     .reference = {.lane = ref_add},
     .lower = lower_add},
    {.form = "addc.type d, a, b, cin:carry" WL_TYPES,
     .spec = {WL_SECTION "addc", 1, 2, 10},
     .reference = {.lane = ref_add},
     .lower = lower_add},
    {.form = "addc.cc.type d, cout:carry, a, b, cin:carry" WL_TYPES,
     .spec = {WL_SECTION "addc", 1, 2, 10},
     .reference = {.lane = ref_add},
     .lower = lower_add},
    {.form = "sub.cc.type d, cout:carry, a, b" WL_TYPES,
     .spec = {WL_SECTION "sub.cc", 1, 2, 10},
     .reference = {.lane = ref_sub},
     .lower = lower_sub},
    {.form = "subc.type d, a, b, cin:carry" WL_TYPES,
     .spec = {WL_SECTION "subc", 1, 2, 10},
     .reference = {.lane = ref_sub},
     .lower = lower_sub},
    {.form = "subc.cc.type d, cout:carry, a, b, cin:carry" WL_TYPES,
     .spec = {WL_SECTION "subc", 1, 2, 10},
     .reference = {.lane = ref_sub},
     .lower = lower_sub},
    {.form = "mad.mode.cc.type d, cout:carry, a, b, c" WL_TYPES WL_MODE,
     .spec = {WL_SECTION "mad.cc", 3, 0, 20},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mad},
     .lower = lower_mad},
    {.form = "madc.mode.type d, a, b, c, cin:carry" WL_TYPES WL_MODE,
     .spec = {WL_SECTION "madc", 3, 0, 20},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mad},
     .lower = lower_mad},
    {.form = "madc.mode.cc.type d, cout:carry, a, b, c, cin:carry" WL_TYPES WL_MODE,
     .spec = {WL_SECTION "madc", 3, 0, 20},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mad},
     .lower = lower_mad},
};

}  // namespace

Chapter carry_chapter() { return kRows; }

}  // namespace warplens::ops
