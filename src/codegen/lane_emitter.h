// SPDX-License-Identifier: Apache-2.0
// LaneEmitter: the one implementation of LaneBuilder. With an EmitContext it emits LLVM instructions; without one it is
// in abstract mode and only computes classes, which is how the lane-class analysis runs the very same lowerings.
//
// Files: lane_emitter.cpp (operands, registers, reference calls), lane_emitter_integer.cpp, lane_emitter_float.cpp,
// lane_emitter_warp.cpp, special_registers.cpp.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <span>

#include "codegen/emit_context.h"
#include "codegen/kernel_source.h"
#include "codegen/lane_builder.h"

namespace warplens::codegen {

/// A float's bits beyond `infinity`, the sign aside, are NaNs; `canonical` is the one that PTX writes.
struct NanBits {
  uint64_t infinity = 0, canonical = 0;
};
NanBits nan_bits(Elem e);

/// The registers as the emitter sees them at the current instruction; the analysis and the kernel writer implement it.
class RegisterAccess {
 public:
  virtual ~RegisterAccess() = default;
  virtual LaneValue read(ptx::RegId reg) = 0;
  virtual void write(ptx::RegId reg, const LaneValue& value) = 0;
  /// The instruction may only go on when the i1 `holds`; otherwise the warp leaves generated code before it.
  virtual void require(llvm::Value* holds) = 0;
};

class LaneEmitter final : public LaneBuilder {
 public:
  /// `context` null: abstract mode.
  LaneEmitter(const KernelSource& source, RegisterAccess& registers, EmitContext* context)
      : source_(source), registers_(registers), e_(context) {}

  /// Lowers a kValue or kWarp instruction: its row's `lower`, or a call of its reference.
  void lower(const ptx::Instr& in);
  /// Sets the instruction whose operands src() reads.
  void begin(const ptx::Instr& in) { in_ = &in; }
  LaneValue read_operand(const ptx::Operand& o, Elem elem);
  void write_register(ptx::RegId reg, const LaneValue& value, bool sign_extend);
  LaneValue special(ptx::SpecialReg reg, unsigned index);
  /// Address of a variable within its space: an offset for .shared, .local and .param.
  LaneValue symbol_address(const ptx::SymbolRef& symbol);
  LaneValue variable_address(uint32_t index);
  /// [base + symbol + offset] as kI64, or kI32 where the register is 32 bits wide.
  LaneValue address(const ptx::Operand& o);
  /// Narrows, zero-extends or reinterprets.
  LaneValue convert(LaneValue v, Elem to, bool sign_extend = false);
  /// Turns a class into a vector: what lanes that differ by mask need.
  LaneValue widened(const LaneValue& v);
  /// Writes canonical NaNs where that was put off.
  LaneValue settle_nan(LaneValue v);
  LaneValue uniform_value(Elem elem, llvm::Value* base, unsigned align = 0);
  LaneValue vector_value(Elem elem, llvm::Value* vector);

  LaneValue src(int operand, int element = 0) override;
  LaneValue src_as(int operand, Elem elem, int element = 0) override;
  bool present(int operand) const override;
  int elements(int operand) const override;
  void set(int operand, const LaneValue& v, int element = 0) override;
  LaneValue constant(Elem elem, uint64_t bits) override;
  LaneValue lane_index() override;
  LaneValue window(ptx::Space space) override;

  LaneValue add(LaneValue a, LaneValue b) override;
  LaneValue sub(LaneValue a, LaneValue b) override;
  LaneValue mul(LaneValue a, LaneValue b) override;
  LaneValue and_(LaneValue a, LaneValue b) override;
  LaneValue or_(LaneValue a, LaneValue b) override;
  LaneValue xor_(LaneValue a, LaneValue b) override;
  LaneValue shl(LaneValue a, LaneValue amount) override;
  LaneValue lshr(LaneValue a, LaneValue amount) override;
  LaneValue ashr(LaneValue a, LaneValue amount) override;
  LaneValue div(LaneValue a, LaneValue b, bool is_signed) override;
  LaneValue rem(LaneValue a, LaneValue b, bool is_signed) override;
  LaneValue funnel_left(LaneValue hi, LaneValue lo, LaneValue amount) override;
  LaneValue min(LaneValue a, LaneValue b, bool is_signed) override;
  LaneValue max(LaneValue a, LaneValue b, bool is_signed) override;
  LaneValue add_sat(LaneValue a, LaneValue b) override;
  LaneValue sub_sat(LaneValue a, LaneValue b) override;
  LaneValue compare(Compare c, LaneValue a, LaneValue b) override;
  LaneValue popcount(LaneValue a) override;
  LaneValue count_leading_zeros(LaneValue a) override;
  LaneValue count_trailing_zeros(LaneValue a) override;
  LaneValue bit_reverse(LaneValue a) override;
  LaneValue zext(LaneValue a, Elem to) override;
  LaneValue sext(LaneValue a, Elem to) override;
  LaneValue trunc(LaneValue a, Elem to) override;
  LaneValue bitcast(LaneValue a, Elem to) override;

  LaneValue fadd(LaneValue a, LaneValue b, Rounding r = Rounding::kNearestEven) override;
  LaneValue fsub(LaneValue a, LaneValue b, Rounding r = Rounding::kNearestEven) override;
  LaneValue fmul(LaneValue a, LaneValue b, Rounding r = Rounding::kNearestEven) override;
  LaneValue fdiv(LaneValue a, LaneValue b, Rounding r = Rounding::kNearestEven) override;
  LaneValue fma(LaneValue a, LaneValue b, LaneValue c, Rounding r = Rounding::kNearestEven) override;
  LaneValue fsqrt(LaneValue a, Rounding r = Rounding::kNearestEven) override;
  LaneValue fneg(LaneValue a) override;
  LaneValue fabs(LaneValue a) override;
  LaneValue fcompare(FCompare c, LaneValue a, LaneValue b) override;
  LaneValue fmin(LaneValue a, LaneValue b) override;
  LaneValue fmax(LaneValue a, LaneValue b) override;
  LaneValue ftz(LaneValue a) override;
  LaneValue saturate(LaneValue a) override;
  LaneValue canonical_nan(LaneValue a) override;
  LaneValue round_to_integral(LaneValue a, Rounding r) override;
  LaneValue float_to_int(LaneValue a, Elem to, bool is_signed, Rounding r) override;
  LaneValue int_to_float(LaneValue a, Elem to, bool is_signed, Rounding r) override;
  LaneValue float_extend(LaneValue a, Elem to) override;
  LaneValue float_truncate(LaneValue a, Elem to, Rounding r) override;

  LaneValue select(LaneValue condition, LaneValue a, LaneValue b) override;
  LaneValue active_mask() override;
  LaneValue ballot(LaneValue condition) override;
  LaneValue permute(LaneValue value, LaneValue index) override;
  LaneValue first_active(LaneValue value) override;
  void call_reference() override;

 private:
  using Values = std::span<llvm::Value* const>;
  /// Applies one LLVM operation to the scalars when all operands are uniform, else to vectors. `f` gets the operands.
  LaneValue plain(Elem elem, std::initializer_list<const LaneValue*> operands,
                  const std::function<llvm::Value*(Values)>& f);
  LaneValue read_special(ptx::SpecialReg reg, unsigned index);
  LaneValue bitwise(int op, LaneValue a, LaneValue b);
  LaneValue shift_right(LaneValue a, LaneValue amount, bool arithmetic);
  LaneValue extend(LaneValue a, Elem to, bool is_signed);
  llvm::Value* extension_guard(const LaneValue& a, const LaneClass& cls, bool is_signed);
  LaneValue divide(LaneValue a, LaneValue b, bool is_signed, bool remainder);
  LaneValue rounded(int op, Elem elem, std::initializer_list<const LaneValue*> operands, Rounding r);
  LaneValue float_choice(LaneValue a, LaneValue b, bool want_min);
  LaneValue step_rounding(LaneValue exact, LaneValue nearest, Rounding r);
  LaneValue through_wider(LaneValue a, const std::function<LaneValue(LaneValue)>& f);
  /// Sets base to the constant of a value whose class is a known constant.
  bool settle(LaneValue& v);
  llvm::Type* type(Elem e, bool vector) const;
  llvm::IRBuilder<>& ir() { return e_->ir; }

  const KernelSource& source_;
  RegisterAccess& registers_;
  EmitContext* e_;
  const ptx::Instr* in_ = nullptr;
};

}  // namespace warplens::codegen
