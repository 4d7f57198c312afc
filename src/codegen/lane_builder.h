// SPDX-License-Identifier: Apache-2.0
// LaneBuilder: what an opcode's `lower` writes with. It owns the execution mask, the registers and the classes of
// values, so that a lowering reads as the formula of the manual:
//
//   void lower_mad_lo(LaneBuilder& b, const Instr& in) { b.set(0, b.add(b.mul(b.src(1), b.src(2)), b.src(3))); }
//
// Values carry their class (lane_class.h). Operations on uniform operands emit one scalar instruction; add, sub, mul,
// shl, shr, and, or, xor, zext, sext, trunc keep patterns where the algebra allows; all else widens to a 32-lane
// vector. The same lowering also runs in *abstract* mode, where nothing is emitted and only classes are computed: that
// is the lane-class analysis, so analysis and code can never disagree.
//
// Lowerings must not branch on values, only on the instruction's modifiers and types.
#pragma once
#include <cstdint>

#include "codegen/lane_class.h"
#include "ptx/module.h"

namespace llvm {
class Value;
class Type;
}  // namespace llvm

namespace warplens::codegen {

/// How the bits of a lane are held: iN (N = 1, 8, 16, 32, 64, 128) or a floating type. Packed types (f16x2 ...) are
/// i32.
enum class Elem : uint8_t { kI1, kI8, kI16, kI32, kI64, kI128, kF16, kBF16, kF32, kF64 };
unsigned bits_of(Elem e);
/// The element that holds a PTX type in arithmetic: s32/u32/b32 -> kI32, f32 -> kF32, pred -> kI1, f16x2 -> kI32.
Elem elem_of(ptx::Type t);
/// The integer element of the same width.
Elem integer_of(Elem e);

struct LaneValue {
  Elem elem = Elem::kI32;
  LaneClass cls;
  llvm::Value* base = nullptr;    ///< scalar; uniform, pattern, scaled
  llvm::Value* scale = nullptr;   ///< scalar; scaled
  llvm::Value* vector = nullptr;  ///< <32 x elem>; vector
  /// A NaN in it stands for the canonical NaN, whatever its bits: writing those is put off until the bits are looked
  /// at.
  bool lazy_nan = false;
};

enum class Compare : uint8_t { kEq, kNe, kSlt, kSle, kSgt, kSge, kUlt, kUle, kUgt, kUge };
/// Ordered: false when an operand is NaN; unordered ("u"): true then. kNum: both are numbers; kNan: one is NaN.
enum class FCompare : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kEqu, kNeu, kLtu, kLeu, kGtu, kGeu, kNum, kNan };
enum class Rounding : uint8_t { kNearestEven, kZero, kMinusInf, kPlusInf };

class LaneBuilder {
 public:
  virtual ~LaneBuilder() = default;

  // --- operands of the instruction being lowered (index in the form; element of a {vector} operand)
  /// Source operand as a value of the operand's type (immediates are constants, special registers have their classes).
  virtual LaneValue src(int operand, int element = 0) = 0;
  /// The same, reinterpreted / narrowed / extended as `elem` regardless of the register's declared type: takes the low
  /// bits, zero-extends when the register is narrower.
  virtual LaneValue src_as(int operand, Elem elem, int element = 0) = 0;
  virtual bool present(int operand) const = 0;  ///< optional operand written, and not `_`
  virtual int elements(int operand) const = 0;  ///< 1 for a scalar
  /// Writes a destination (bits are stored as the register's type; wider registers get zero-extended bits, or
  /// sign-extended ones when the instruction's type is signed, as the manual says of ld/cvt).
  virtual void set(int operand, const LaneValue& v, int element = 0) = 0;

  // --- constants
  virtual LaneValue constant(Elem elem, uint64_t bits) = 0;
  LaneValue i32(uint32_t v) { return constant(Elem::kI32, v); }
  LaneValue f32(float v);
  LaneValue f64(double v);
  virtual LaneValue lane_index() = 0;  ///< i32 0..31
  /// Where the generic window of .shared, .local or .global begins: uniform kI64 (cvta, isspacep).
  virtual LaneValue window(ptx::Space space) = 0;

  // --- integers (operands of equal elem)
  virtual LaneValue add(LaneValue a, LaneValue b) = 0;
  virtual LaneValue sub(LaneValue a, LaneValue b) = 0;
  virtual LaneValue mul(LaneValue a, LaneValue b) = 0;
  virtual LaneValue and_(LaneValue a, LaneValue b) = 0;
  virtual LaneValue or_(LaneValue a, LaneValue b) = 0;
  virtual LaneValue xor_(LaneValue a, LaneValue b) = 0;
  LaneValue not_(LaneValue a) { return xor_(a, constant(a.elem, ~uint64_t{0})); }
  LaneValue neg(LaneValue a) { return sub(constant(a.elem, 0), a); }
  /// Shifts as PTX defines them: amounts >= width give 0 (shl, lshr) or all sign bits (ashr). `amount` is kI32.
  virtual LaneValue shl(LaneValue a, LaneValue amount) = 0;
  virtual LaneValue lshr(LaneValue a, LaneValue amount) = 0;
  virtual LaneValue ashr(LaneValue a, LaneValue amount) = 0;
  /// Quotient / remainder; division by zero is as on the hardware (all ones for both; measured on an H200),
  /// INT_MIN / -1 gives INT_MIN, remainder 0.
  virtual LaneValue div(LaneValue a, LaneValue b, bool is_signed) = 0;
  virtual LaneValue rem(LaneValue a, LaneValue b, bool is_signed) = 0;
  /// Funnel shift left of hi:lo; amount modulo width (the caller clamps).
  virtual LaneValue funnel_left(LaneValue hi, LaneValue lo, LaneValue amount) = 0;
  virtual LaneValue min(LaneValue a, LaneValue b, bool is_signed) = 0;
  virtual LaneValue max(LaneValue a, LaneValue b, bool is_signed) = 0;
  virtual LaneValue add_sat(LaneValue a, LaneValue b) = 0;  ///< signed
  virtual LaneValue sub_sat(LaneValue a, LaneValue b) = 0;
  virtual LaneValue compare(Compare c, LaneValue a, LaneValue b) = 0;  ///< kI1
  virtual LaneValue popcount(LaneValue a) = 0;                         ///< same elem
  virtual LaneValue count_leading_zeros(LaneValue a) = 0;              ///< width for 0
  virtual LaneValue count_trailing_zeros(LaneValue a) = 0;
  virtual LaneValue bit_reverse(LaneValue a) = 0;
  virtual LaneValue zext(LaneValue a, Elem to) = 0;
  virtual LaneValue sext(LaneValue a, Elem to) = 0;
  virtual LaneValue trunc(LaneValue a, Elem to) = 0;
  virtual LaneValue bitcast(LaneValue a, Elem to) = 0;  ///< same width

  // --- floating point; no contraction, no fast-math; denormals kept unless flushed by hand with ftz()
  virtual LaneValue fadd(LaneValue a, LaneValue b, Rounding r = Rounding::kNearestEven) = 0;
  virtual LaneValue fsub(LaneValue a, LaneValue b, Rounding r = Rounding::kNearestEven) = 0;
  virtual LaneValue fmul(LaneValue a, LaneValue b, Rounding r = Rounding::kNearestEven) = 0;
  virtual LaneValue fdiv(LaneValue a, LaneValue b, Rounding r = Rounding::kNearestEven) = 0;
  virtual LaneValue fma(LaneValue a, LaneValue b, LaneValue c, Rounding r = Rounding::kNearestEven) = 0;
  virtual LaneValue fsqrt(LaneValue a, Rounding r = Rounding::kNearestEven) = 0;
  virtual LaneValue fneg(LaneValue a) = 0;
  virtual LaneValue fabs(LaneValue a) = 0;
  virtual LaneValue fcompare(FCompare c, LaneValue a, LaneValue b) = 0;
  /// PTX min/max: a NaN operand loses against a number (both NaN: canonical NaN); -0 < +0.
  virtual LaneValue fmin(LaneValue a, LaneValue b) = 0;
  virtual LaneValue fmax(LaneValue a, LaneValue b) = 0;
  virtual LaneValue ftz(LaneValue a) = 0;       ///< subnormals become zero of the same sign
  virtual LaneValue saturate(LaneValue a) = 0;  ///< clamp to [+0, 1], NaN becomes +0
  virtual LaneValue canonical_nan(
      LaneValue a) = 0;  ///< NaN becomes 0x7fffffff / 0x7fffffffffffffff..., as the hardware writes
  virtual LaneValue round_to_integral(LaneValue a, Rounding r) = 0;
  virtual LaneValue float_to_int(
      LaneValue a, Elem to, bool is_signed,
      Rounding r) = 0;  ///< saturating, NaN -> PTX's value (0, or 0x8000... for 64 bit; see ops/convert.cpp)
  virtual LaneValue int_to_float(LaneValue a, Elem to, bool is_signed, Rounding r) = 0;
  virtual LaneValue float_extend(LaneValue a, Elem to) = 0;
  virtual LaneValue float_truncate(LaneValue a, Elem to, Rounding r) = 0;

  // --- choice and warp-wide
  virtual LaneValue select(LaneValue condition, LaneValue a, LaneValue b) = 0;
  /// The active lanes at this instruction, as a uniform kI32 (guard included).
  virtual LaneValue active_mask() = 0;
  /// Bit l = condition of lane l (kI1 vector -> uniform kI32); inactive lanes give 0.
  virtual LaneValue ballot(LaneValue condition) = 0;
  /// value[index[l]] for each lane; `index` is kI32, taken modulo 32.
  virtual LaneValue permute(LaneValue value, LaneValue index) = 0;
  /// Value of the lowest active lane, as uniform.
  virtual LaneValue first_active(LaneValue value) = 0;

  /// Emits a call of the row's own reference function on all active lanes: correct for every row that has one.
  virtual void call_reference() = 0;
};

}  // namespace warplens::codegen
