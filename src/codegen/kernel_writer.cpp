// SPDX-License-Identifier: Apache-2.0
// Variables, blocks and instructions; see kernel_writer.h.
#include "codegen/kernel_writer.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "base/bits.h"
#include "base/check.h"
#include "exec/warp_context.h"

namespace warplens::codegen {

using ptx::Role;

KernelWriter::KernelWriter(const KernelSource& source, const LaneAnalysis& lanes, const std::vector<WebInfo>& handed,
                           const analysis::Liveness& live, EmitContext& context)
    : source_(source),
      lanes_(lanes),
      handed_(handed),
      live_(live),
      e_(context),
      ir_(context.ir),
      emitter_(source, *this, &context) {
  words_ = {static_cast<uint32_t>(source.loops->layout.size()), static_cast<uint32_t>(source.loops->loops.size())};
}

llvm::BasicBlock* KernelWriter::new_block(const char* name) {
  return llvm::BasicBlock::Create(e_.module.getContext(), name, e_.function);
}

void KernelWriter::write_kernel(const std::string& name) {
  llvm::LLVMContext& context = e_.module.getContext();
  auto* type = llvm::FunctionType::get(ir_.getVoidTy(), {ir_.getPtrTy(), ir_.getPtrTy()}, false);
  e_.function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, e_.module);
  e_.function->addFnAttr(llvm::Attribute::NoUnwind);
  e_.warp = e_.function->getArg(0);
  e_.function->addParamAttr(0, llvm::Attribute::NoAlias);
  e_.alloca_block = llvm::BasicBlock::Create(context, "variables", e_.function);
  llvm::BasicBlock* start = new_block("start");
  finish_ = llvm::BasicBlock::Create(context, "finish");
  end_of_walk_ = parks() ? new_block("end_of_walk") : finish_;

  const auto& loops = *source_.loops;
  const auto positions = static_cast<uint32_t>(loops.layout.size());
  loops_ending_.resize(positions);
  for (size_t i = loops.loops.size(); i-- > 0;)  // outer loops come first in the list
    loops_ending_[loops.loops[i].last - 1].push_back(static_cast<uint32_t>(i));
  for (uint32_t p = 0; p < positions; ++p) {
    if (has_full()) full_.push_back(new_block("full"));
    if (!has_masked()) continue;
    test_.push_back(new_block("test"));
    body_.push_back(new_block("body"));
  }
  after_.assign(positions, nullptr);
  ir_.SetInsertPoint(e_.alloca_block);
  make_variables();

  emit_start(start);
  if (has_full()) {
    clone_ = Clone::kFull;
    for (uint32_t p = 0; p < positions; ++p) emit_block(p);
    for (const EqualCopy& copy : equal_copies_) emit_equal_copy(copy);
  }
  if (has_masked()) emit_masked_copy();
  finish_->insertInto(e_.function);
  ir_.SetInsertPoint(finish_);
  e_.flush_counters();
  ir_.CreateRetVoid();
  llvm::IRBuilder<> entry(e_.alloca_block);
  entry.CreateBr(start);
}

// The executor starts a full-mask part with full warps only.
void KernelWriter::emit_start(llvm::BasicBlock* start) {
  ir_.SetInsertPoint(start);
  if (!has_masked()) {
    ir_.CreateBr(full_[0]);
    return;
  }
  llvm::Value* lanes = e_.load_field(offsetof(exec::WarpContext, entry_mask), ir_.getInt32Ty());
  ir_.CreateStore(lanes, mask_);
  if (has_full())
    ir_.CreateCondBr(ir_.CreateICmpEQ(lanes, ir_.getInt32(kFullMask)), full_[0], body_[0]);
  else
    emit_entries();
}

void KernelWriter::emit_masked_copy() {
  const auto positions = static_cast<uint32_t>(test_.size());
  clone_ = Clone::kDyn;
  for (uint32_t p = 0; p < positions; ++p) {
    emit_test(p);
    emit_block(p);
  }
  for (uint32_t p = 0; p < positions; ++p)
    if (after_[p] != nullptr) emit_after(p);
  if (parks()) emit_end_of_walk();
}

// Variables begin as zero, as registers do in the interpreter; where that is never read the store is dropped.
llvm::AllocaInst* KernelWriter::make_zero(llvm::Type* type, const char* name) {
  llvm::AllocaInst* slot = ir_.CreateAlloca(type, nullptr, name);
  ir_.CreateStore(llvm::Constant::getNullValue(type), slot);
  return slot;
}

llvm::Type* KernelWriter::lane_type_of(WebId web) const {
  return lane_type(e_.module.getContext(), elem_of(source_.function->registers[lanes_.webs.webs[web].reg].type));
}

KernelWriter::Variable KernelWriter::make_variable(WebId web, const LaneClass& cls) {
  if (cls.constant) return {};
  llvm::Type* scalar = lane_type_of(web);
  if (cls.is_vector()) return {make_zero(llvm::FixedVectorType::get(scalar, kWarpSize), "v"), nullptr};
  return {make_zero(scalar, "u"), cls.shape == Shape::kScaled ? make_zero(scalar, "s") : nullptr};
}

void KernelWriter::make_variables() {
  variables_.resize(lanes_.webs.webs.size());
  for (WebId w = 0; w < variables_.size(); ++w) variables_[w] = make_variable(w, lanes_.info[w].cls);
  mask_ = make_zero(ir_.getInt32Ty(), "mask");
  make_equal_copies();
  // An array, which mem2reg leaves in memory: a mask for each block in SSA form is quadratic in the blocks (measured).
  const uint32_t words = spins() ? words_.count() : words_.positions;
  pending_ = ir_.CreateAlloca(llvm::ArrayType::get(ir_.getInt32Ty(), words), nullptr, "pending");
  ir_.CreateMemSet(pending_, ir_.getInt8(0), uint64_t{words} * 4, llvm::MaybeAlign(4));
  if (source_.call_frame_bytes != 0) {
    llvm::Type* word = llvm::FixedVectorType::get(ir_.getInt64Ty(), kWarpSize);
    frame_ = make_zero(llvm::ArrayType::get(word, (source_.call_frame_bytes + 7) / 8), "frame");
  }
}

LaneValue KernelWriter::read_web(WebId web) {
  const WebInfo& info = info_of(web);
  LaneValue v;
  v.elem = elem_of(source_.function->registers[lanes_.webs.webs[web].reg].type);
  if (info.cls.constant) return emitter_.constant(v.elem, *info.cls.constant);
  v.cls = info.cls;
  v.lazy_nan = info.lazy_nan;
  const Variable& slot = variable_of(web);
  llvm::Value* held = ir_.CreateLoad(slot.base->getAllocatedType(), slot.base);
  (info.cls.is_vector() ? v.vector : v.base) = held;
  if (slot.scale != nullptr) v.scale = ir_.CreateLoad(slot.scale->getAllocatedType(), slot.scale);
  return v;
}

LaneValue KernelWriter::read(ptx::RegId reg) {
  const WebId web = lanes_.webs.read(instr_, reg);
  if (web != kNoWeb) return read_web(web);
  return emitter_.constant(elem_of(source_.function->registers[reg].type), 0);
}

void KernelWriter::write(ptx::RegId reg, const LaneValue& value) {
  const RegisterUse* use = lanes_.webs.use(instr_, reg);
  WL_CHECK(use != nullptr && use->written != kNoWeb);
  const WebInfo& info = info_of(use->written);
  if (info.cls.constant) return;
  const LaneValue v = info.lazy_nan ? value : emitter_.settle_nan(value);
  const Variable& slot = variable_of(use->written);
  if (!info.cls.is_vector()) {
    // The analysis ran the same lowering: shapes can differ only by what join forgets (constants, alignment).
    WL_CHECK(v.cls.shape == info.cls.shape && v.cls.offsets == info.cls.offsets && v.cls.steps == info.cls.steps,
             "instruction {}: class of the value differs from its web's", instr_);
    stores_.emplace_back(v.base, slot.base);
    if (slot.scale != nullptr) stores_.emplace_back(v.scale, slot.scale);
    return;
  }
  llvm::Value* wide = e_.widen(v);
  const bool partial = clone_ == Clone::kDyn && lanes_.diverged[block_] && info.blend;
  if (guard_varies_ || partial) {
    llvm::Value* old = ir_.CreateLoad(slot.base->getAllocatedType(), slot.base);
    wide = ir_.CreateSelect(e_.mask_vector, wide, old);
  }
  stores_.emplace_back(wide, slot.base);
}

void KernelWriter::use_block_mask() {
  e_.full_mask = clone_ != Clone::kDyn;
  e_.masked_copy = clone_ == Clone::kDyn;
  e_.equal_copy = clone_ == Clone::kEqual;
  e_.mask_bits = block_mask_bits_;
  e_.mask_vector = block_mask_vector_;
  e_.mask_may_be_empty = false;
  e_.unguarded = true;
  guard_varies_ = false;
}

void KernelWriter::emit_block(uint32_t position) {
  position_ = position;
  block_ = source_.loops->layout[position];
  e_.block = block_;
  llvm::Type* mask_type = llvm::FixedVectorType::get(ir_.getInt1Ty(), kWarpSize);
  if (clone_ != Clone::kDyn) {
    ir_.SetInsertPoint(code_at(position));
    block_mask_bits_ = ir_.getInt32(kFullMask);
    block_mask_vector_ = llvm::Constant::getAllOnesValue(mask_type);
  } else {
    ir_.SetInsertPoint(body_[position]);
    block_mask_bits_ = ir_.CreateLoad(ir_.getInt32Ty(), mask_);
    block_mask_vector_ = ir_.CreateBitCast(block_mask_bits_, mask_type);
  }
  use_block_mask();
  count_block(block_);
  const ir::Block& block = source_.graph->blocks[block_];
  if (clone_ == Clone::kFull) {
    find_row_groups(block_);
    find_access_groups(block_);
  }
  bool effect = true;
  for (uint32_t i = block.begin; i < block.end; ++i) {
    const Role role = source_.function->body[i].def->role;
    if (role == Role::kBranch || role == Role::kBranchIndexed || role == Role::kReturn || role == Role::kExit) break;
    if (effect) set_checkpoint(i);
    effect = role != Role::kValue && role != Role::kWarp;
    emit_instruction(i);
  }
  use_block_mask();
  emit_terminator(block_);
}

void KernelWriter::count_block(ir::BlockId block) {
  if (e_.options.emit_events) ir_.CreateCall(e_.hook("wl_block_run"), {e_.warp, ir_.getInt32(block), block_mask_bits_});
  if (!e_.options.count) return;
  // Runs with a full mask are only in words 2 and 3; the executor adds them to the others when it collects.
  if (clone_ != Clone::kDyn)
    return e_.count(e_.layout.block_word(block, clone_ == Clone::kFull ? 2 : 3), ir_.getInt64(1));
  llvm::Value* lanes = ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, block_mask_bits_);
  e_.count(e_.layout.block_word(block, 0), ir_.getInt64(1));
  e_.count(e_.layout.block_word(block, 1), ir_.CreateZExt(lanes, ir_.getInt64Ty()));
}

LaneValue KernelWriter::read_guard(const ptx::Instr& in) {
  LaneValue v = read(in.guard);
  return in.guard_negated ? emitter_.not_(v) : v;
}

void KernelWriter::emit_instruction(uint32_t i) {
  instr_ = i;
  use_block_mask();
  if (source_.function->body[i].guard == ptx::kNoReg)
    emit_unguarded(i);
  else
    emit_guarded(i);
}

// A guard that all lanes share becomes a branch. One that varies narrows the mask; instructions with effects are jumped
// over when no lane is left, values are computed for all lanes and blended when written.
void KernelWriter::emit_guarded(uint32_t i) {
  const ptx::Instr& in = source_.function->body[i];
  const LaneValue guard = read_guard(in);
  e_.unguarded = false;
  llvm::Value* taken = guard.base;
  if (!guard.cls.is_uniform()) {
    guard_varies_ = true;
    e_.mask_vector = e_.full_mask ? guard.vector : ir_.CreateAnd(guard.vector, block_mask_vector_);
    e_.full_mask = false;
    e_.mask_bits = ir_.CreateBitCast(e_.mask_vector, ir_.getInt32Ty());
    if (in.def->role == Role::kValue && in.def->lower != nullptr) return emit_unguarded(i);
    taken = ir_.CreateICmpNE(e_.mask_bits, ir_.getInt32(0));
  }
  llvm::BasicBlock *then = new_block("guarded"), *behind = new_block("behind");
  ir_.CreateCondBr(taken, then, behind);
  ir_.SetInsertPoint(then);
  emit_unguarded(i);
  ir_.CreateBr(behind);
  ir_.SetInsertPoint(behind);
}

// What an instruction writes is stored behind it, since its lowering may read an operand after it has set a result.
void KernelWriter::emit_unguarded(uint32_t i) {
  emit_operation(i);
  store_results();
}

void KernelWriter::store_results() {
  for (const auto& [value, slot] : stores_) ir_.CreateStore(value, slot);
  stores_.clear();
}

void KernelWriter::emit_operation(uint32_t i) {
  const ptx::Instr& in = source_.function->body[i];
  emitter_.begin(in);
  switch (in.def->role) {
    case Role::kValue:
    case Role::kWarp: return emitter_.lower(in);
    case Role::kLoad:
    case Role::kStore:
    case Role::kAtomic:
    case Role::kReduction:
      order_before(in);
      emit_memory(i);
      return order_behind(in);
    case Role::kWarpMemory: return emit_warp_memory(i);
    case Role::kCall: return emit_call(i);
    case Role::kBarrier: return emit_barrier(i);
    case Role::kWarpBarrier: return emit_warp_barrier(in);
    case Role::kClusterBarrier: return emit_cluster_barrier(i);
    case Role::kTrap: return emit_trap(i);
    case Role::kFence: ir_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent); return;
    default: return;
  }
}

}  // namespace warplens::codegen
