// SPDX-License-Identifier: Apache-2.0
// Arithmetic on lane classes: what is known of a result when the classes of its operands are known. LaneEmitter
// computes the scalars that belong to a result (base, scale) by the rules stated here; the two are tested against brute
// force.
//
// `bits` is the width of the register, 1 to 128; patterns exist only in registers of 32 and 64 bits. All arithmetic is
// modulo 2^bits, so add, sub, mul, shl and trunc keep a class always. The others keep it under the condition named.
#pragma once
#include <cstdint>

#include "codegen/lane_class.h"

namespace warplens::codegen {

/// Known power-of-two factor of the base, at most `bits` (then the base is zero).
unsigned alignment_of(const LaneClass& c, unsigned bits);
/// w such that all lanes are below 2^w; `bits` when nothing is known.
unsigned width_of(const LaneClass& c, unsigned bits);
/// Offsets of a class, zeros when it has none.
const Pattern& offsets_of(const LaneClass& c);
/// Least and largest element.
int64_t lowest(const Pattern& p);
int64_t highest(const Pattern& p);
/// `v` modulo 2^bits, sign-extended.
int64_t wrap(int64_t v, unsigned bits);

/// base = a.base + b.base; scale = the one there is, or their sum (equal steps).
LaneClass class_of_add(const LaneClass& a, const LaneClass& b, unsigned bits);
/// base = a.base - b.base; scale = a.scale, -b.scale or their difference.
LaneClass class_of_sub(const LaneClass& a, const LaneClass& b, unsigned bits);
/// One operand uniform: base = a.base * b.base; scale = scale * uniform, or the uniform itself when a pattern meets a
/// run-time uniform.
LaneClass class_of_mul(const LaneClass& a, const LaneClass& b, unsigned bits);
/// And, or, xor act apart on the high bits (bases) and on the low bits (offsets) where both bases are multiples of 2^A
/// and all offsets are in [0, 2^A). `split` receives A: a constant operand's base is its bits from A up.
enum class Bitwise : uint8_t { kAnd, kOr, kXor };
LaneClass class_of_bitwise(Bitwise op, const LaneClass& a, const LaneClass& b, unsigned bits, unsigned* split);
/// Shift right by a constant: base >> k and offsets >> k, where no offset reaches into the base's bits.
LaneClass class_of_shift_right(const LaneClass& a, const LaneClass& amount, unsigned bits, bool arithmetic);
/// Shift left by a constant is a product; by a run-time uniform, of a uniform only.
LaneClass class_of_shift_left(const LaneClass& a, const LaneClass& amount, unsigned bits);
LaneClass class_of_trunc(const LaneClass& a, unsigned to);
/// zext / sext of a pattern or scaled value holds only if no lane wraps; `guard` says whether that must be tested.
LaneClass class_of_extend(const LaneClass& a, unsigned from, unsigned to, bool is_signed, bool* guard);
/// A choice by a uniform condition: equal shapes, offsets and steps.
LaneClass class_of_choice(const LaneClass& a, const LaneClass& b);

}  // namespace warplens::codegen
