// SPDX-License-Identifier: Apache-2.0
// Instructions with effects: memory (lowered by memory_lowering), parameters, calls of built-in functions, barriers,
// traps. Parameters of calls live in a frame of 64-bit words, each the 32 lanes side by side.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "base/check.h"
#include "codegen/kernel_writer.h"
#include "exec/warp_context.h"
#include "ir/barrier_blocks.h"

namespace warplens::codegen {

using ptx::Role;

void KernelWriter::emit_memory(uint32_t i) {
  const MemoryOperands m = memory_operands(source_, i);
  if (m.op.space == ptx::Space::kParam) return m.call_frame ? emit_frame_access(m) : emit_parameter(m);
  const uint32_t row = clone_ == Clone::kFull ? row_of_[i - source_.graph->blocks[block_].begin] : kNoGroup;
  if (row != kNoGroup && emit_row_member(i, m, rows_[row])) return;
  const uint32_t index = clone_ == Clone::kFull ? group_of_[i - source_.graph->blocks[block_].begin] : kNoGroup;
  if (index == kNoGroup) return emit_access(i, m);
  // One test for the group: in shared memory before its first access. In global memory the first access is checked by
  // itself, which finds out the allocation, and the test behind it asks for the others.
  const AccessGroup& group = groups_[index];
  const bool first = i == group.first_instr;
  if (first && group.shared) require_group(group);
  e_.options.bounds = source_.options.bounds && first && !group.shared;
  emit_access(i, m);
  e_.options.bounds = source_.options.bounds;
  if (!first || group.shared) return;
  store_results();
  set_checkpoint(i + 1);
  require_group(group);
}

void KernelWriter::emit_access(uint32_t i, const MemoryOperands& m) {
  const ptx::Instr& in = source_.function->body[i];
  const Elem elem = integer_of(elem_of(m.op.type));
  LaneValue address = emitter_.address(*m.address);
  const bool offsets = m.op.space == ptx::Space::kShared || m.op.space == ptx::Space::kLocal;
  if (!offsets) address = emitter_.convert(address, Elem::kI64);
  if (in.def->role == Role::kLoad) {
    const std::vector<LaneValue> values = lower_load(e_, m.op, address);
    for (size_t k = 0; k < values.size(); ++k) emitter_.set(m.destination, values[k], static_cast<int>(k));
    return;
  }
  if (in.def->role == Role::kStore) {
    std::vector<LaneValue> values;
    for (unsigned k = 0; k < m.op.elements; ++k) values.push_back(emitter_.src_as(m.first, elem, static_cast<int>(k)));
    return lower_store(e_, m.op, address, {values.data(), values.size()});
  }
  if (m.op.elements > 1) return require(ir_.getFalse());  // vector atomics: the interpreter has them
  const LaneValue a = emitter_.src_as(m.first, elem);
  std::optional<LaneValue> b;
  if (m.second >= 0) b = emitter_.src_as(m.second, elem);
  const LaneValue old = lower_atomic(e_, m.op, address, a, b ? &*b : nullptr, in.def->role == Role::kReduction);
  if (in.def->role == Role::kAtomic) emitter_.set(m.destination, old);
}

// ld.param of the kernel's own parameters: the same for all threads. An address that varies by lane, or lies outside,
// is left to the interpreter.
void KernelWriter::emit_parameter(const MemoryOperands& m) {
  const LaneValue address = emitter_.convert(emitter_.address(*m.address), Elem::kI64);
  const Elem elem = integer_of(elem_of(m.op.type));
  const uint64_t bytes = ptx::bytes_of(m.op.type), all = bytes * m.op.elements;
  const uint64_t size = source_.function->param_bytes;
  const bool readable = address.cls.is_uniform() && m.destination >= 0 && all <= size;
  llvm::Value* at = readable ? address.base : ir_.getInt64(0);
  require(readable ? ir_.CreateICmpULE(at, ir_.getInt64(size - all)) : ir_.getFalse());
  llvm::Value* params = e_.load_field(offsetof(exec::WarpContext, params), ir_.getPtrTy());
  llvm::Type* type = lane_type(e_.module.getContext(), elem);
  for (unsigned k = 0; k < m.op.elements && m.destination >= 0; ++k) {
    llvm::Value* value = llvm::Constant::getNullValue(type);
    if (readable) {
      llvm::Value* place = ir_.CreateGEP(ir_.getInt8Ty(), params, ir_.CreateAdd(at, ir_.getInt64(k * bytes)));
      llvm::LoadInst* load = ir_.CreateAlignedLoad(type, place, llvm::Align(1));
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(e_.module.getContext(), {}));
      value = load;
    }
    LaneValue v = emitter_.uniform_value(elem, value);
    if (!source_.lane_classes || !address.cls.is_uniform()) v = emitter_.widened(v);
    emitter_.set(m.destination, v, static_cast<int>(k));
  }
}

llvm::Value* KernelWriter::frame_word(uint32_t byte_offset) {
  WL_CHECK(frame_ != nullptr && byte_offset < source_.call_frame_bytes);
  return ir_.CreateConstInBoundsGEP2_32(frame_->getAllocatedType(), frame_, 0, byte_offset / 8);
}

LaneValue KernelWriter::load_frame(uint32_t byte_offset, Elem elem) {
  llvm::Type* word = llvm::FixedVectorType::get(ir_.getInt64Ty(), kWarpSize);
  llvm::Value* v = ir_.CreateLoad(word, frame_word(byte_offset));
  if (byte_offset % 8 != 0) v = ir_.CreateLShr(v, uint64_t{byte_offset % 8} * 8);
  llvm::Type* type = llvm::FixedVectorType::get(lane_type(e_.module.getContext(), elem), kWarpSize);
  return emitter_.vector_value(elem, ir_.CreateTrunc(v, type));
}

void KernelWriter::store_frame(uint32_t byte_offset, const LaneValue& value) {
  llvm::Type* word = llvm::FixedVectorType::get(ir_.getInt64Ty(), kWarpSize);
  llvm::Value* slot = frame_word(byte_offset);
  llvm::Value* old = ir_.CreateLoad(word, slot);
  const unsigned bits = bits_of(value.elem), shift = byte_offset % 8 * 8;
  llvm::Value* v = ir_.CreateZExt(e_.widen(value), word);
  if (shift != 0) v = ir_.CreateShl(v, shift);
  const uint64_t replaced = low_bits(bits) << shift;
  if (replaced != ~uint64_t{0}) v = ir_.CreateOr(v, ir_.CreateAnd(old, llvm::ConstantInt::get(word, ~replaced)));
  if (!e_.full_mask) v = ir_.CreateSelect(e_.mask_vector, v, old);
  ir_.CreateStore(v, slot);
}

void KernelWriter::emit_frame_access(const MemoryOperands& m) {
  const Elem elem = integer_of(elem_of(m.op.type));
  const uint32_t bytes = ptx::bytes_of(m.op.type);
  const uint64_t base = source_.variable_offsets[m.address->symbol.index] + m.address->imm;
  const bool inside = m.address->reg == ptx::kNoReg && bytes <= 8 &&
                      base + uint64_t{bytes} * m.op.elements <= source_.call_frame_bytes && base % bytes == 0;
  if (!inside) require(ir_.getFalse());
  for (unsigned k = 0; k < m.op.elements; ++k) {
    const auto at = static_cast<uint32_t>(base + k * bytes);
    if (m.destination >= 0)
      emitter_.set(m.destination, inside ? load_frame(at, elem) : emitter_.widened(emitter_.constant(elem, 0)),
                   static_cast<int>(k));
    else if (inside)
      store_frame(at, emitter_.src_as(m.first, elem, static_cast<int>(k)));
  }
}

// Arguments and results go through arrays of 32 raw values each; the hook calls the function lane by lane.
void KernelWriter::emit_call(uint32_t i) {
  const ptx::Instr& in = source_.function->body[i];
  constexpr uint64_t kLaneBytes = 256, kMost = 16;
  WL_CHECK(in.args.size() <= kMost);
  llvm::Value *arguments = e_.scratch("call_in", kMost * kLaneBytes),
              *results = e_.scratch("call_out", kMost * kLaneBytes);
  llvm::Type* word = llvm::FixedVectorType::get(ir_.getInt64Ty(), kWarpSize);
  const auto slot = [&](llvm::Value* base, size_t k) { return ir_.CreateConstGEP1_64(word, base, k); };
  const auto frame_elem = [&](const ptx::Operand& o) {
    const uint64_t bytes = std::min<uint64_t>(8, source_.function->variables[o.symbol.index].bytes);
    return bytes <= 1 ? Elem::kI8 : bytes <= 2 ? Elem::kI16 : bytes <= 4 ? Elem::kI32 : Elem::kI64;
  };
  for (size_t k = in.returns; k < in.args.size(); ++k) {
    const ptx::Operand& o = in.args[k];
    LaneValue v;
    if (o.tag == ptx::OperandTag::kSymbol)
      v = load_frame(source_.variable_offsets[o.symbol.index], frame_elem(o));
    else
      v = emitter_.read_operand(o, o.type == ptx::Type::kNone ? Elem::kI64 : integer_of(elem_of(o.type)));
    ir_.CreateAlignedStore(ir_.CreateZExt(e_.widen(v), word), slot(arguments, k - in.returns), llvm::Align(64));
  }
  ir_.CreateCall(e_.hook("wl_call"), {e_.warp, ir_.getInt32(i), emitter_.active_mask().base, arguments, results});
  for (size_t k = 0; k < in.returns; ++k) {
    const ptx::Operand& o = in.args[k];
    LaneValue v = emitter_.vector_value(Elem::kI64, ir_.CreateAlignedLoad(word, slot(results, k), llvm::Align(64)));
    if (o.tag == ptx::OperandTag::kReg)
      emitter_.write_register(o.reg, v, false);
    else if (o.tag == ptx::OperandTag::kSymbol)
      store_frame(source_.variable_offsets[o.symbol.index], emitter_.convert(v, frame_elem(o)));
  }
}

// Operands as references see them: an array of 32 raw values for each scalar source and result, and one for each
// address.
void KernelWriter::emit_warp_memory(uint32_t i) {
  const ptx::Instr& in = source_.function->body[i];
  constexpr uint64_t kMost = 24, kAddresses = 3;
  llvm::Type* word = llvm::FixedVectorType::get(ir_.getInt64Ty(), kWarpSize);
  constexpr uint64_t kLaneBytes = 256;
  llvm::Value *inputs = e_.scratch("warp_in", kMost * kLaneBytes),
              *outputs = e_.scratch("warp_out", kMost * kLaneBytes),
              *addresses = e_.scratch("warp_at", kAddresses * kLaneBytes);
  const auto put = [&](llvm::Value* base, size_t k, const LaneValue& v) {
    llvm::Value* lanes = e_.widen(emitter_.convert(v, integer_of(v.elem)));
    ir_.CreateAlignedStore(ir_.CreateZExtOrTrunc(lanes, word), ir_.CreateConstGEP1_64(word, base, k), llvm::Align(64));
  };
  std::vector<std::pair<int, int>> results;  // operand, element
  size_t sources = 0, places = 0;
  for (size_t k = 0; k < in.operands.size(); ++k) {
    const auto operand = static_cast<int>(k);
    if (in.operands[k].tag == ptx::OperandTag::kAddress) {
      put(addresses, places++, emitter_.address(in.operands[k]));
      continue;
    }
    for (int e = 0; e < emitter_.elements(operand); ++e) {
      if (in.def->form.operands[k].is_dest)
        results.emplace_back(operand, e);
      else
        put(inputs, sources++, emitter_.src(operand, e));
    }
  }
  WL_CHECK(sources <= kMost && results.size() <= kMost && places <= kAddresses);
  ir_.CreateCall(e_.hook("wl_warp_memory"),
                 {e_.warp, ir_.getInt32(i), emitter_.active_mask().base, inputs, outputs, addresses});
  for (size_t k = 0; k < results.size(); ++k) {
    const auto [operand, element] = results[k];
    const ptx::Operand& o = in.operands[static_cast<size_t>(operand)];
    const ptx::Operand& one =
        o.tag == ptx::OperandTag::kVector ? in.elements[o.first + static_cast<uint32_t>(element)] : o;
    if (one.reg == ptx::kNoReg) continue;
    const ptx::Type type = one.type != ptx::Type::kNone ? one.type : source_.function->registers[one.reg].type;
    llvm::Value* lanes = ir_.CreateAlignedLoad(word, ir_.CreateConstGEP1_64(word, outputs, k), llvm::Align(64));
    emitter_.set(operand, emitter_.convert(emitter_.vector_value(Elem::kI64, lanes), integer_of(elem_of(type))),
                 element);
  }
}

// An aligned barrier is for whole warps. Where all lanes of the warp that run are together there is nothing to ask;
// elsewhere the hook asks unless all that the warp began with are here.
void KernelWriter::check_alignment(uint32_t i) {
  const ptx::Instr& in = source_.function->body[i];
  const bool apart = clone_ == Clone::kDyn && lanes_.diverged[block_];
  if (!ir::is_aligned_barrier(in) || (!apart && in.guard == ptx::kNoReg)) return;
  llvm::Value* here = emitter_.active_mask().base;
  llvm::Value* all =
      apart ? e_.load_field(offsetof(exec::WarpContext, entry_mask), ir_.getInt32Ty()) : block_mask_bits_;
  llvm::BasicBlock *some = new_block("some_lanes"), *on = new_block("aligned");
  ir_.CreateCondBr(ir_.CreateICmpEQ(here, all), on, some);
  ir_.SetInsertPoint(some);
  const uint32_t places = spins() ? words_.rounds(0) : words_.positions;  // lanes wait there, or are parked
  llvm::CallInst* call = ir_.CreateCall(
      e_.hook("wl_divergent_barrier"),
      {e_.warp, ir_.getInt32(i), here, ir_.CreateXor(block_mask_bits_, here), pending_, ir_.getInt32(places)});
  call->addParamAttr(4, llvm::Attribute::NoCapture);
  ir_.CreateBr(on);
  ir_.SetInsertPoint(on);
}

void KernelWriter::emit_cluster_barrier(uint32_t i) {
  check_alignment(i);
  const bool waits = source_.function->body[i].has("wait");
  ir_.CreateCall(e_.hook("wl_cluster_barrier"), {e_.warp, ir_.getInt32(i), ir_.getInt32(waits ? 1 : 0)});
}

// Operands as the interpreter reads them: barrier number, thread count, and the predicate of a reduction wherever it
// is.
void KernelWriter::emit_barrier(uint32_t i) {
  const ptx::Instr& in = source_.function->body[i];
  llvm::Value* number[2] = {ir_.getInt32(0), ir_.getInt32(0)};
  llvm::Value* values = ir_.getInt32(0);
  size_t numbers = 0;
  int destination = -1;
  for (size_t k = 0; k < in.operands.size(); ++k) {
    const ptx::OperandForm& form = in.def->form.operands[k];
    const auto operand = static_cast<int>(k);
    if (form.is_dest)
      destination = operand;
    else if (in.operands[k].type == ptx::Type::kPred)
      values = emitter_.ballot(emitter_.src_as(operand, Elem::kI1)).base;
    else if (numbers < 2)
      number[numbers++] = emitter_.first_active(emitter_.src_as(operand, Elem::kI32)).base;
  }
  check_alignment(i);
  const uint32_t how = destination < 0 ? (in.has("arrive") ? 4 : 3) : in.has("popc") ? 0 : in.has("and") ? 1 : 2;
  const auto* which = llvm::dyn_cast<llvm::ConstantInt>(number[0]);
  const auto* threads = llvm::dyn_cast<llvm::ConstantInt>(number[1]);
  const bool of_all = threads != nullptr && threads->isZero() && which != nullptr && which->getValue().ult(16);
  if (how == 3 && of_all && !source_.options.emit_events) {
    ir_.CreateCall(e_.hook("wl_barrier_of_all"), {e_.warp, ir_.getInt32(i), number[0]});
    return;
  }
  llvm::Value* result = ir_.CreateCall(e_.hook("wl_barrier"), {e_.warp, ir_.getInt32(i), number[0], number[1],
                                                               emitter_.active_mask().base, values, ir_.getInt32(how)});
  if (destination < 0) return;
  LaneValue v = emitter_.uniform_value(Elem::kI32, result);
  if (!source_.lane_classes) v = emitter_.widened(v);
  emitter_.set(destination, v);
}

// Where all lanes of the warp are together there is nothing to wait for. Else members may be on their way in another
// branch: the interpreter knows how to wait for them.
void KernelWriter::emit_warp_barrier(const ptx::Instr& in) {
  const bool apart = clone_ == Clone::kDyn && lanes_.diverged[block_];
  if (!apart && in.guard == ptx::kNoReg) return;
  llvm::Value* members = emitter_.first_active(emitter_.src_as(0, Elem::kI32)).base;
  const uint32_t places = spins() ? words_.rounds(0) : words_.positions;  // lanes wait there, or are parked
  llvm::Value* others = ir_.CreateXor(block_mask_bits_, emitter_.active_mask().base);  // held back by the guard
  if (apart)
    others = ir_.CreateOr(others, ir_.CreateCall(e_.hook("wl_lanes_elsewhere"), {pending_, ir_.getInt32(places)}));
  require(ir_.CreateICmpEQ(ir_.CreateAnd(members, others), ir_.getInt32(0)));
}

void KernelWriter::emit_trap(uint32_t i) {
  ir_.CreateCall(e_.hook("wl_trap"), {e_.warp, ir_.getInt32(i), emitter_.active_mask().base});
}

}  // namespace warplens::codegen
