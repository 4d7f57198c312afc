// SPDX-License-Identifier: Apache-2.0
// Bounds checks of a basic block put together. Unrolled loops access one register plus many constants; instead of a
// compare and a branch each, one test covers the whole span. When it fails the interpreter takes the warp over, checks
// access by access and says which lane is wrong. Only with a full mask, where all accesses of the block do happen, and
// only for addresses whose lanes are known (uniform or a pattern).
#include <llvm/IR/Constants.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/bits.h"
#include "codegen/kernel_writer.h"
#include "codegen/lane_algebra.h"
#include "exec/warp_context.h"
#include "memory/address_space.h"

namespace warplens::codegen {

void KernelWriter::find_access_groups(ir::BlockId id) {
  const ir::Block& block = source_.graph->blocks[id];
  groups_.clear();
  group_of_.assign(block.end - block.begin, kNoGroup);
  if (!source_.options.bounds || !source_.extend_patterns) return;
  // A group's accesses have one register with one value, and one space and width; the key's second part is the
  // instruction that wrote the register last.
  using Key = std::tuple<ptx::RegId, uint32_t, ptx::Space, uint64_t>;
  std::map<Key, uint32_t> known;
  std::map<ptx::RegId, uint32_t> written;
  for (uint32_t i = block.begin; i < block.end; ++i) {
    const ptx::Instr& in = source_.function->body[i];
    const bool access = in.guard == ptx::kNoReg && row_of_[i - block.begin] == kNoGroup &&
                        (in.def->role == ptx::Role::kLoad || in.def->role == ptx::Role::kStore);
    if (access) {
      const MemoryOperands m = memory_operands(source_, i);
      const bool space = m.op.space == ptx::Space::kShared || m.op.space == ptx::Space::kGlobal;
      const WebId web = m.address->reg == ptx::kNoReg ? kNoWeb : lanes_.webs.read(i, m.address->reg);
      const ptx::SymbolRef& symbol = m.address->symbol;
      const bool known_offset =
          symbol.kind != ptx::SymbolKind::kModuleVariable || !source_.variable_is_placed(symbol.index);
      if (space && known_offset && web != kNoWeb && lanes_.info[web].cls.shape <= Shape::kPattern) {
        const Pattern& lanes = offsets_of(lanes_.info[web].cls);
        const uint64_t bytes = uint64_t{ptx::bytes_of(m.op.type)} * m.op.elements;
        const auto offset = static_cast<int64_t>(m.address->imm + *emitter_.symbol_address(symbol).cls.constant);
        const auto multiple = [&](int64_t v) { return v % static_cast<int64_t>(bytes) == 0; };
        const Key key{m.address->reg, written.contains(m.address->reg) ? written[m.address->reg] : ~0u, m.op.space,
                      bytes};
        const auto found = known.find(key);
        const bool aligned = std::all_of(lanes.begin(), lanes.end(), multiple) &&
                             (found == known.end() || multiple(offset - groups_[found->second].first_offset));
        if (aligned && std::abs(offset) < (int64_t{1} << 30)) {
          const auto [at, fresh] = known.emplace(key, static_cast<uint32_t>(groups_.size()));
          if (fresh)
            groups_.push_back(
                {offset, offset, static_cast<unsigned>(bytes), offset, i, 0, m.op.space == ptx::Space::kShared});
          AccessGroup& g = groups_[at->second];
          g.first_byte = std::min(g.first_byte, offset + lowest(lanes));
          g.end_byte = std::max(g.end_byte, offset + highest(lanes) + static_cast<int64_t>(bytes));
          ++g.members;
          group_of_[i - block.begin] = at->second;
        }
      }
    }
    ir::for_each_write(in, [&](ptx::RegId r) { written[r] = i; });
  }
  for (uint32_t& g : group_of_)
    if (g != kNoGroup && groups_[g].members < 2) g = kNoGroup;
}

void KernelWriter::require_group(const AccessGroup& group) {
  const ptx::Instr& in = source_.function->body[group.first_instr];
  const auto address = std::find_if(in.operands.begin(), in.operands.end(),
                                    [](const ptx::Operand& o) { return o.tag == ptx::OperandTag::kAddress; });
  // The load may have overwritten its own address register; then there is nothing more to group.
  instr_ = group.first_instr;
  llvm::Value* base = ir_.CreateZExtOrTrunc(read(address->reg).base, ir_.getInt64Ty());
  const auto at = [&](int64_t byte) { return ir_.CreateAdd(base, ir_.getInt64(static_cast<uint64_t>(byte))); };
  llvm::Value *begin = nullptr, *end = nullptr;
  if (group.shared) {
    begin = ir_.getInt64(memory::kSharedReservedBytes);
    end = ir_.CreateZExt(e_.load_field(offsetof(exec::WarpContext, shared_end), ir_.getInt32Ty()), ir_.getInt64Ty());
  } else {
    llvm::Value* ranges = e_.load_field(offsetof(exec::WarpContext, ranges), ir_.getPtrTy());
    const uint64_t range = uint64_t{source_.accesses->of_instr[group.first_instr].front()} * sizeof(exec::CachedRange);
    const auto field = [&](size_t offset) {
      return ir_.CreateLoad(ir_.getInt64Ty(), ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), ranges, range + offset));
    };
    begin = field(offsetof(exec::CachedRange, begin));
    end = field(offsetof(exec::CachedRange, end));
  }
  llvm::Value* inside =
      ir_.CreateAnd(ir_.CreateICmpSGE(at(group.first_byte), begin), ir_.CreateICmpSLE(at(group.end_byte), end));
  llvm::Value* aligned =
      ir_.CreateICmpEQ(ir_.CreateAnd(at(group.first_offset), ir_.getInt64(group.bytes - 1)), ir_.getInt64(0));
  require(ir_.CreateAnd(inside, aligned));
}

}  // namespace warplens::codegen
