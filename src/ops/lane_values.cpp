// SPDX-License-Identifier: Apache-2.0
// The few lowerings and modifier readings that several chapters share; see lane_values.h.
#include "ops/lane_values.h"

namespace warplens::ops {

Rounding rounding_of(const Instr& in) {
  // rna and rs have rows of their own and never come here.
  for (int s = 0; s < in.def->form.slot_count; ++s) {
    if (in.slots[s] < 0) continue;
    const std::string_view w = in.def->form.word(s, in.slots[s]);
    if (w == "rz" || w == "rzi") return Rounding::kZero;
    if (w == "rm" || w == "rmi") return Rounding::kMinusInf;
    if (w == "rp" || w == "rpi") return Rounding::kPlusInf;
  }
  return Rounding::kNearestEven;
}

LaneValue low_half(LaneBuilder& b, LaneValue v, Elem elem) { return b.bitcast(b.trunc(v, Elem::kI16), elem); }
LaneValue high_half(LaneBuilder& b, LaneValue v, Elem elem) {
  return b.bitcast(b.trunc(b.lshr(v, b.i32(16)), Elem::kI16), elem);
}
LaneValue join_halves(LaneBuilder& b, LaneValue low, LaneValue high) {
  const auto word = [&](LaneValue v) { return b.zext(b.bitcast(v, Elem::kI16), Elem::kI32); };
  return b.or_(word(low), b.shl(word(high), b.i32(16)));
}

}  // namespace warplens::ops
