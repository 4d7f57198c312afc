// SPDX-License-Identifier: Apache-2.0
// Operands, registers and constants of LaneEmitter, and calls of reference functions.
#include "codegen/lane_emitter.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>

#include <bit>
#include <vector>

#include "base/bits.h"
#include "base/check.h"
#include "codegen/lane_algebra.h"
#include "exec/warp_context.h"
#include "memory/address_space.h"

namespace warplens::codegen {

using ptx::Operand;
using ptx::OperandTag;

unsigned bits_of(Elem e) {
  switch (e) {
    case Elem::kI1: return 1;
    case Elem::kI8: return 8;
    case Elem::kI16:
    case Elem::kF16:
    case Elem::kBF16: return 16;
    case Elem::kI32:
    case Elem::kF32: return 32;
    case Elem::kI64:
    case Elem::kF64: return 64;
    case Elem::kI128: return 128;
  }
  return 0;
}

Elem integer_of_bits(unsigned bits) {
  switch (bits) {
    case 1: return Elem::kI1;
    case 8: return Elem::kI8;
    case 16: return Elem::kI16;
    case 32: return Elem::kI32;
    case 64: return Elem::kI64;
    case 128: return Elem::kI128;
    default: WL_CHECK(false, "no element of {} bits", bits);
  }
  return Elem::kI32;
}

Elem elem_of(ptx::Type t) {
  switch (t) {
    case ptx::Type::kF16: return Elem::kF16;
    case ptx::Type::kBF16: return Elem::kBF16;
    case ptx::Type::kF32: return Elem::kF32;
    case ptx::Type::kF64: return Elem::kF64;
    default: return integer_of_bits(ptx::bits_of(t));
  }
}

Elem integer_of(Elem e) { return integer_of_bits(bits_of(e)); }

namespace {

constexpr unsigned kReferenceOperands = 24;  ///< values of one instruction, vectors flattened
constexpr uint64_t kLaneBytes = 32 * sizeof(uint64_t);

bool is_float(Elem e) { return e == Elem::kF16 || e == Elem::kBF16 || e == Elem::kF32 || e == Elem::kF64; }

}  // namespace

LaneValue LaneBuilder::f32(float v) { return constant(Elem::kF32, std::bit_cast<uint32_t>(v)); }
LaneValue LaneBuilder::f64(double v) { return constant(Elem::kF64, std::bit_cast<uint64_t>(v)); }

llvm::Type* LaneEmitter::type(Elem e, bool vector) const {
  llvm::Type* scalar = lane_type(e_->module.getContext(), e);
  return vector ? llvm::FixedVectorType::get(scalar, kWarpSize) : scalar;
}

LaneValue LaneEmitter::uniform_value(Elem elem, llvm::Value* base, unsigned align) {
  LaneValue v;
  v.elem = elem;
  v.cls = LaneClass::uniform(align);
  v.base = base;
  return v;
}

LaneValue LaneEmitter::vector_value(Elem elem, llvm::Value* vector) {
  LaneValue v;
  v.elem = elem;
  v.cls = LaneClass::vector();
  v.vector = vector;
  return v;
}

LaneValue LaneEmitter::widened(const LaneValue& v) {
  if (v.cls.is_vector()) return v;
  return vector_value(v.elem, e_ == nullptr ? nullptr : e_->widen(v));
}

LaneValue LaneEmitter::constant(Elem elem, uint64_t bits) {
  LaneValue v;
  v.elem = elem;
  v.cls = LaneClass::of_constant(bits & low_bits(bits_of(elem)));
  settle(v);
  return v;
}

bool LaneEmitter::settle(LaneValue& v) {
  if (!v.cls.constant) return false;
  if (e_ == nullptr) return true;
  llvm::Type* integer = lane_type(e_->module.getContext(), integer_of(v.elem));
  llvm::Constant* c = llvm::ConstantInt::get(integer, *v.cls.constant);
  v.base = is_float(v.elem) ? llvm::ConstantExpr::getBitCast(c, type(v.elem, false)) : c;
  return true;
}

LaneValue LaneEmitter::lane_index() {
  Pattern p;
  for (size_t l = 0; l < p.size(); ++l) p[l] = static_cast<int64_t>(l);
  LaneValue v;
  v.cls = LaneClass::pattern(p, 32);
  if (e_ != nullptr) v.base = ir().getInt32(0);
  return v;
}

LaneValue LaneEmitter::convert(LaneValue v, Elem to, bool sign_extend) {
  if (v.elem == to) return v;
  const Elem wanted = integer_of(to);
  if (is_float(v.elem)) v = bitcast(v, integer_of(v.elem));
  if (bits_of(v.elem) > bits_of(wanted)) v = trunc(v, wanted);
  if (bits_of(v.elem) < bits_of(wanted)) v = sign_extend ? sext(v, wanted) : zext(v, wanted);
  return is_float(to) ? bitcast(v, to) : v;
}

LaneValue LaneEmitter::read_operand(const Operand& o, Elem elem) {
  switch (o.tag) {
    case OperandTag::kReg: return convert(registers_.read(o.reg), elem);
    case OperandTag::kNegReg: return convert(not_(registers_.read(o.reg)), elem);
    case OperandTag::kImm: return constant(elem, o.imm);
    case OperandTag::kSpecial: return convert(special(o.special, o.first), elem);
    case OperandTag::kFunction:
    case OperandTag::kSymbol: {
      LaneValue at = convert(symbol_address(o.symbol), Elem::kI64);
      return convert(add(at, constant(Elem::kI64, o.imm)), elem);
    }
    default: return constant(elem, 0);  // an absent optional operand, or `_`
  }
}

static const Operand& element_of(const ptx::Instr& in, int operand, int element) {
  const Operand& o = in.operands[static_cast<size_t>(operand)];
  return o.tag == OperandTag::kVector ? in.elements[o.first + static_cast<size_t>(element)] : o;
}

LaneValue LaneEmitter::src(int operand, int element) {
  const Operand& o = element_of(*in_, operand, element);
  const ptx::Type t = o.type != ptx::Type::kNone ? o.type : in_->operands[static_cast<size_t>(operand)].type;
  if (t != ptx::Type::kNone) return read_operand(o, elem_of(t));
  if (o.reg != ptx::kNoReg) return registers_.read(o.reg);
  return read_operand(o, Elem::kI32);
}

LaneValue LaneEmitter::src_as(int operand, Elem elem, int element) {
  return read_operand(element_of(*in_, operand, element), elem);
}

bool LaneEmitter::present(int operand) const {
  const OperandTag tag = in_->operands[static_cast<size_t>(operand)].tag;
  return tag != OperandTag::kNone && tag != OperandTag::kSink;
}

int LaneEmitter::elements(int operand) const {
  const Operand& o = in_->operands[static_cast<size_t>(operand)];
  return o.tag == OperandTag::kVector ? static_cast<int>(o.count) : 1;
}

void LaneEmitter::write_register(ptx::RegId reg, const LaneValue& value, bool sign_extend) {
  const Elem held = elem_of(source_.function->registers[reg].type);
  registers_.write(reg, convert(value, held, sign_extend));
}

void LaneEmitter::set(int operand, const LaneValue& v, int element) {
  const Operand& o = element_of(*in_, operand, element);
  if (o.tag != OperandTag::kReg) return;  // `_`
  const ptx::Type t = in_->operands[static_cast<size_t>(operand)].type;
  const bool narrower = t != ptx::Type::kNone && ptx::bits_of(t) < bits_of(v.elem);
  write_register(o.reg, narrower ? trunc(convert(v, integer_of(v.elem)), integer_of(elem_of(t))) : v,
                 ptx::is_signed(t));
}

LaneValue LaneEmitter::symbol_address(const ptx::SymbolRef& symbol) {
  uint64_t at = 0;
  switch (symbol.kind) {
    case ptx::SymbolKind::kModuleVariable:
      if (source_.variable_is_placed(symbol.index)) return variable_address(symbol.index);
      at = source_.symbols[symbol.index];
      break;
    case ptx::SymbolKind::kLocalVariable: at = source_.variable_offsets[symbol.index]; break;
    case ptx::SymbolKind::kParameter: at = source_.function->params[symbol.index].offset; break;
    case ptx::SymbolKind::kReturn: at = source_.function->returns[symbol.index].offset; break;
    case ptx::SymbolKind::kFunction: at = source_.function_handle(symbol.index); break;
    case ptx::SymbolKind::kNone: break;
  }
  return constant(Elem::kI64, at);
}

/// Read at run time, so that code can be kept from one run to the next.
LaneValue LaneEmitter::variable_address(uint32_t index) {
  constexpr auto kAlignLog2 = static_cast<unsigned>(std::countr_zero(memory::kAllocationAlign));
  if (e_ == nullptr) return uniform_value(Elem::kI64, nullptr, kAlignLog2);
  llvm::Value* symbols = e_->load_field(offsetof(exec::WarpContext, symbols), ir().getPtrTy());
  llvm::LoadInst* at =
      ir().CreateLoad(ir().getInt64Ty(), ir().CreateConstInBoundsGEP1_64(ir().getInt64Ty(), symbols, index));
  at->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(ir().getContext(), {}));
  return uniform_value(Elem::kI64, at, kAlignLog2);
}

LaneValue LaneEmitter::address(const Operand& o) {
  LaneValue at = constant(Elem::kI64, 0);
  if (o.reg != ptx::kNoReg) {
    at = registers_.read(o.reg);
    if (at.elem != Elem::kI32) at = convert(at, Elem::kI64);
  }
  if (o.symbol.kind != ptx::SymbolKind::kNone) {
    const LaneValue symbol = convert(symbol_address(o.symbol), at.elem);
    at = o.reg == ptx::kNoReg ? symbol : add(at, symbol);
  }
  return o.imm == 0 ? at : add(at, constant(at.elem, o.imm));
}

LaneValue LaneEmitter::window(ptx::Space space) {
  size_t field = offsetof(exec::WarpContext, global_begin);
  if (space == ptx::Space::kShared || space == ptx::Space::kSharedCluster)
    field = offsetof(exec::WarpContext, shared_window);
  if (space == ptx::Space::kLocal) field = offsetof(exec::WarpContext, local_window);
  return uniform_value(Elem::kI64, e_ == nullptr ? nullptr : e_->load_field(field, ir().getInt64Ty()), 12);
}

void LaneEmitter::lower(const ptx::Instr& in) {
  in_ = &in;
  if (in.def->lower != nullptr)
    in.def->lower(*this, in);
  else
    call_reference();
}

/// Stores a value as 32 zero-extended 64-bit lanes.
static void store_lanes(EmitContext& e, LaneEmitter& b, LaneValue v, llvm::Value* at) {
  llvm::Type* lanes = llvm::FixedVectorType::get(e.ir.getInt64Ty(), kWarpSize);
  llvm::Value* wide = e.widen(b.convert(v, integer_of(v.elem)));
  e.ir.CreateAlignedStore(e.ir.CreateZExtOrTrunc(wide, lanes), at, llvm::Align(64));
}

// The reference sees one array of 32 raw values for each scalar source; see ptx::LaneArgs.
void LaneEmitter::call_reference() {
  const ptx::Instr& in = *in_;
  std::vector<LaneValue> sources;
  bool all_uniform = in.def->reference.lane != nullptr;
  struct Destination {
    int operand, element;
  };
  std::vector<Destination> destinations;
  for (size_t i = 0; i < in.operands.size(); ++i) {
    if (in.operands[i].tag == OperandTag::kAddress) continue;
    const int count = elements(static_cast<int>(i));
    for (int k = 0; k < count; ++k) {
      if (in.def->form.operands[i].is_dest) {
        destinations.push_back({static_cast<int>(i), k});
        continue;
      }
      LaneValue v = src(static_cast<int>(i), k);
      all_uniform = all_uniform && (v.cls.is_uniform() || v.cls.shape == Shape::kBottom);
      sources.push_back(v);
    }
  }
  const auto dest_elem = [&](const Destination& d) {
    const ptx::Type t = in.operands[static_cast<size_t>(d.operand)].type;
    const Operand& o = element_of(in, d.operand, d.element);
    if (t != ptx::Type::kNone) return integer_of(elem_of(t));
    return o.reg == ptx::kNoReg ? Elem::kI64 : integer_of(elem_of(source_.function->registers[o.reg].type));
  };
  const auto result = [&](const Destination& d, llvm::Value* lanes) {
    const Elem elem = dest_elem(d);
    if (all_uniform && e_ == nullptr) return uniform_value(elem, nullptr);
    if (e_ == nullptr) return vector_value(elem, nullptr);
    if (all_uniform)
      return uniform_value(
          elem, ir().CreateTrunc(ir().CreateAlignedLoad(ir().getInt64Ty(), lanes, llvm::Align(8)), type(elem, false)));
    llvm::Type* raw = type(Elem::kI64, true);
    return vector_value(elem, ir().CreateTrunc(ir().CreateAlignedLoad(raw, lanes, llvm::Align(64)), type(elem, true)));
  };
  llvm::Value* out = nullptr;
  if (e_ != nullptr) {
    WL_CHECK(sources.size() <= kReferenceOperands && destinations.size() <= kReferenceOperands);
    llvm::Value* inputs = e_->scratch("reference_in", kReferenceOperands * kLaneBytes);
    out = e_->scratch("reference_out", kReferenceOperands * kLaneBytes);
    for (size_t i = 0; i < sources.size(); ++i)
      store_lanes(*e_, *this, sources[i], ir().CreateConstGEP1_64(ir().getInt8Ty(), inputs, i * kLaneBytes));
    llvm::Value* mask = all_uniform ? ir().getInt32(1) : active_mask().base;
    const auto pc = static_cast<uint64_t>(&in - source_.function->body.data());
    WL_CHECK(pc < source_.function->body.size());
    ir().CreateCall(e_->hook("wl_reference"), {e_->warp, ir().getInt32(static_cast<uint32_t>(pc)), mask, inputs, out});
  }
  for (size_t i = 0; i < destinations.size(); ++i) {
    llvm::Value* at = e_ == nullptr ? nullptr : ir().CreateConstGEP1_64(ir().getInt8Ty(), out, i * kLaneBytes);
    set(destinations[i].operand, result(destinations[i], at), destinations[i].element);
  }
}

}  // namespace warplens::codegen
