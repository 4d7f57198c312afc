// SPDX-License-Identifier: Apache-2.0
// Shared by the chapters: how references read raw bits, how lowerings are put together, and the names that a row is
// written with. A chapter is references (plain C++ on one lane's bits), lowerings (the same formula on LaneBuilder),
// and at its end the rows that join both to a syntax.
#pragma once
#include <bit>
#include <cstdint>

#include "base/bits.h"
#include "codegen/lane_builder.h"
#include "ptx/module.h"
#include "ptx/op.h"

namespace warplens::ops {

using codegen::Compare;
using codegen::Elem;
using codegen::FCompare;
using codegen::LaneBuilder;
using codegen::LaneValue;
using codegen::Rounding;
using ptx::AtomicArgs;
using ptx::Instr;
using ptx::LaneArgs;
using ptx::OpDef;
using ptx::Pipe;
using ptx::Role;
using ptx::Type;
using ptx::WarpArgs;

// --- references
constexpr int64_t as_signed(uint64_t v, unsigned bits) {
  return bits >= 64 ? static_cast<int64_t>(v) : static_cast<int64_t>(v << (64 - bits)) >> (64 - bits);
}
inline float as_f32(uint64_t v) { return std::bit_cast<float>(static_cast<uint32_t>(v)); }
inline double as_f64(uint64_t v) { return std::bit_cast<double>(v); }
inline uint64_t bits_of_f32(float v) { return std::bit_cast<uint32_t>(v); }
inline uint64_t bits_of_f64(double v) { return std::bit_cast<uint64_t>(v); }
/// Type of an operand, by its index in the form.
inline Type type_at(const Instr& in, int operand) { return in.operands[static_cast<size_t>(operand)].type; }
inline bool is_present(const Instr& in, int operand) {
  return in.operands[static_cast<size_t>(operand)].tag != ptx::OperandTag::kNone;
}
/// Writes `v`, cut to the width of the first destination.
inline void put(const LaneArgs& a, uint64_t v) { a.out[0] = v & low_bits(ptx::bits_of(type_at(a.instr, 0))); }

/// `f` on each 16-bit half of packed operands: uint16_t(uint16_t...).
template <typename F>
uint64_t each_half(F&& f, uint64_t a, uint64_t b = 0, uint64_t c = 0) {
  const auto half = [](uint64_t v, int i) { return static_cast<uint16_t>(v >> (16 * i)); };
  const uint32_t low = static_cast<uint16_t>(f(half(a, 0), half(b, 0), half(c, 0)));
  const uint32_t high = static_cast<uint16_t>(f(half(a, 1), half(b, 1), half(c, 1)));
  return low | high << 16;
}

/// The rounding that a modifier asks for; none written means to the nearest even.
Rounding rounding_of(const Instr& in);

// --- lowerings
/// d = a op b, for an operation that LaneBuilder has.
template <LaneValue (LaneBuilder::*kOp)(LaneValue, LaneValue)>
void lower_binary(LaneBuilder& b, const Instr&) {
  b.set(0, (b.*kOp)(b.src(1), b.src(2)));
}
template <LaneValue (LaneBuilder::*kOp)(LaneValue)>
void lower_unary(LaneBuilder& b, const Instr&) {
  b.set(0, (b.*kOp)(b.src(1)));
}
/// Low and high 16 bits of an i32, as `elem` (kI16, kF16, kBF16).
LaneValue low_half(LaneBuilder& b, LaneValue v, Elem elem);
LaneValue high_half(LaneBuilder& b, LaneValue v, Elem elem);
LaneValue join_halves(LaneBuilder& b, LaneValue low, LaneValue high);
/// 1 bit -> all bits of `elem`.
inline LaneValue all_bits(LaneBuilder& b, LaneValue condition, Elem elem) { return b.sext(condition, elem); }

}  // namespace warplens::ops
