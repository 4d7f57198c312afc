// SPDX-License-Identifier: Apache-2.0
// Leaving generated code for the interpreter; see kernel_writer.h. The values that the interpreter needs are read at
// the checkpoint, where they dominate every test behind it, so that one cold block serves them all.
#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <map>

#include "base/bits.h"
#include "base/check.h"
#include "codegen/kernel_writer.h"
#include "codegen/memory_access.h"

namespace warplens::codegen {

void KernelWriter::set_checkpoint(uint32_t instr) {
  llvm::BasicBlock* block = ir_.GetInsertBlock();
  checkpoint_ = {instr, block, block->empty() ? nullptr : &block->back(), nullptr};
}

void KernelWriter::require(llvm::Value* holds) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(holds); known != nullptr && known->isOne()) return;
  if (checkpoint_.deoptimise == nullptr) checkpoint_.deoptimise = deoptimise_block();
  llvm::BasicBlock* on = new_block("holds");
  ir_.CreateCondBr(holds, on, checkpoint_.deoptimise,
                   llvm::MDBuilder(e_.module.getContext()).createBranchWeights(1 << 20, 1));
  ir_.SetInsertPoint(on);
}

/// Where lanes apart from those of this block may wait, other registers are alive, or the same ones hold other values.
std::vector<KernelWriter::WaitingValue> KernelWriter::values_of_waiting_lanes(const std::vector<WebId>& here) {
  std::vector<WaitingValue> values;
  if (clone_ != Clone::kDyn || !lanes_.diverged[block_]) return values;
  std::map<std::pair<ptx::RegId, WebId>, size_t> known;
  for (uint32_t p = 0; p < source_.loops->layout.size(); ++p) {
    const ir::BlockId b = source_.loops->layout[p];
    const auto& before = source_.graph->blocks[b].predecessors;
    const bool may_wait = std::ranges::any_of(
        before, [&](ir::BlockId from) { return lanes_.diverged[from] || lanes_.divergent_branch[from]; });
    if (!may_wait) continue;
    for (const auto& [reg, web] : lanes_.webs.live_in[b]) {
      if (here[reg] == web) continue;
      const auto [at, is_new] = known.emplace(std::pair{reg, web}, values.size());
      if (is_new) values.push_back({reg, read_web(web), {}});
      values[at->second].positions.push_back(p);
      const uint32_t loop = loop_headed_at(p);
      if (loop != analysis::kNoLoop && lanes_.parks[loop]) values[at->second].positions.push_back(words_.parked(loop));
    }
  }
  return values;
}

/// Stores a value in its own form, in 256 bytes at `place`; returns its KeptRegister.
llvm::Constant* KernelWriter::keep(const LaneValue& v, ptx::RegId reg, llvm::Value* place) {
  llvm::IntegerType* word = ir_.getInt64Ty();
  const unsigned bits = bits_of(v.elem);
  WL_CHECK(bits <= 64, "register {}: the interpreter has 64 bits of a lane", reg);
  if (v.cls.is_vector()) {
    ir_.CreateAlignedStore(bits == 1 ? ir_.CreateBitCast(v.vector, ir_.getInt32Ty()) : v.vector, place,
                           llvm::Align(64));
  } else {
    const auto put = [&](llvm::Value* part, uint64_t offset) {
      ir_.CreateAlignedStore(ir_.CreateZExt(ir_.CreateBitCast(part, ir_.getIntNTy(bits)), word),
                             offset_pointer(ir_, place, offset), llvm::Align(8));
    };
    put(v.base, 0);
    if (v.cls.shape == Shape::kScaled) put(v.scale, 8);
  }
  const NanBits nan = v.lazy_nan && !v.cls.constant ? nan_bits(v.elem) : NanBits{};
  return llvm::ConstantStruct::getAnon({ir_.getInt32(reg), ir_.getInt32(bits), ir_.getInt64(v.cls.is_vector()),
                                        e_.pattern_table(v.cls.steps), e_.pattern_table(v.cls.offsets),
                                        ir_.getInt64(nan.infinity), ir_.getInt64(nan.canonical)});
}

void KernelWriter::widen_kept(llvm::Value* registers, const std::vector<llvm::Constant*>& kept) {
  if (kept.empty()) return;
  auto* type = llvm::ArrayType::get(kept[0]->getType(), kept.size());
  auto* list = new llvm::GlobalVariable(e_.module, type, true, llvm::GlobalValue::PrivateLinkage,
                                        llvm::ConstantArray::get(type, kept), "kept");
  ir_.CreateCall(e_.hook("wl_widen_registers"), {registers, list, ir_.getInt32(static_cast<uint32_t>(kept.size()))});
}

llvm::BasicBlock* KernelWriter::deoptimise_block() {
  // Registers alive at the checkpoint, and the web that holds each there.
  analysis::RegisterSet alive(source_.function->registers.size());
  analysis::for_each_instruction_backward(*source_.graph, live_, block_,
                                          [&](uint32_t i, const analysis::RegisterSet& behind) {
                                            if (i < checkpoint_.instr) return;
                                            alive = behind;
                                            const ptx::Instr& in = source_.function->body[i];
                                            ir::for_each_write(in, [&](ptx::RegId r) { alive.erase(r); });
                                            ir::for_each_read(in, [&](ptx::RegId r) { alive.insert(r); });
                                          });
  std::vector<WebId> web_of(source_.function->registers.size(), kNoWeb);
  for (const auto& [reg, web] : lanes_.webs.live_in[block_]) web_of[reg] = web;
  for (uint32_t i = source_.graph->blocks[block_].begin; i < checkpoint_.instr; ++i)
    for (const RegisterUse& u : lanes_.webs.of_instr[i])
      if (u.written != kNoWeb) web_of[u.reg] = u.written;

  const auto back = ir_.saveIP();
  if (checkpoint_.last == nullptr)
    ir_.SetInsertPoint(checkpoint_.block, checkpoint_.block->begin());
  else
    ir_.SetInsertPoint(checkpoint_.block, std::next(checkpoint_.last->getIterator()));
  std::vector<std::pair<ptx::RegId, LaneValue>> values;
  alive.for_each([&](ptx::RegId r) {
    if (web_of[r] != kNoWeb) values.emplace_back(r, read_web(web_of[r]));
  });
  for (ptx::RegId r = 0; r < web_of.size(); ++r)
    if (!alive.contains(r)) web_of[r] = kNoWeb;
  const std::vector<WaitingValue> waiting = values_of_waiting_lanes(web_of);

  llvm::BasicBlock* cold = new_block("deoptimise");
  ir_.SetInsertPoint(cold);
  llvm::Value* registers =
      ir_.CreateCall(e_.hook("wl_deoptimise_registers"),
                     {e_.warp, ir_.getInt32(static_cast<uint32_t>(source_.function->registers.size()))});
  const auto place_of = [&](ptx::RegId reg) { return ir_.CreateConstGEP1_64(ir_.getInt8Ty(), registers, reg * 256); };
  std::vector<llvm::Constant*> kept;
  for (const auto& [reg, value] : values) kept.push_back(keep(value, reg, place_of(reg)));
  widen_kept(registers, kept);
  for (const WaitingValue& w : waiting) {
    // A call, not a select: LLVM 19's combiner did not end on selects of wide vectors by such masks, and it is cold.
    llvm::Value* lanes = e_.scratch("waiting", 256);
    widen_kept(lanes, {keep(w.value, 0, lanes)});
    llvm::Constant* positions = llvm::ConstantDataArray::get(e_.module.getContext(), w.positions);
    auto* list = new llvm::GlobalVariable(e_.module, positions->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                          positions, "positions");
    ir_.CreateCall(e_.hook("wl_waiting_lanes"),
                   {place_of(w.reg), lanes, pending_, list, ir_.getInt32(static_cast<uint32_t>(w.positions.size()))});
  }
  ir_.CreateCall(e_.hook("wl_deoptimise"),
                 {e_.warp, registers, ir_.getInt32(position_), block_mask_bits_, ir_.getInt32(checkpoint_.instr),
                  ir_.getInt32(clone_ == Clone::kFull), pending_});
  ir_.CreateBr(finish_);
  ir_.restoreIP(back);
  return cold;
}

}  // namespace warplens::codegen
