// SPDX-License-Identifier: Apache-2.0
// Loads of a basic block whose lanes are apart, but where each lane reads neighbouring words: an unrolled walk along a
// row, with a thread a row. The first load reads the words of all of them (MemoryAccess::load_chunks); the others take
// their words from it and are only counted. That their addresses do differ by the constants that the text suggests
// (address_forms.h), and that the whole lies within one allocation, is required at run time: else the interpreter takes
// over, and the kernel is compiled again without groups. Only with a full mask, where all loads of the block do happen,
// and only past instructions that let nobody else's stores be seen.
#include <algorithm>
#include <map>
#include <tuple>

#include "codegen/address_forms.h"
#include "codegen/kernel_writer.h"
#include "codegen/lane_algebra.h"

namespace warplens::codegen {
namespace {

/// Whether other threads' stores may be seen behind it that were not to be seen before, or own ones to global memory.
bool ends_groups(const ptx::Instr& in) {
  switch (in.def->role) {
    case ptx::Role::kValue:
    case ptx::Role::kWarp: return false;
    case ptx::Role::kLoad: return in.has("volatile") || in.has("acquire") || in.has("relaxed") || in.has("mmio");
    case ptx::Role::kStore: return in.space() != ptx::Space::kShared && in.space() != ptx::Space::kLocal;
    default: return true;
  }
}

/// Lanes that one vector load, or a few, would not reach.
bool is_scattered(const LaneClass& c, uint64_t bytes) {
  if (c.shape == Shape::kScaled) return true;
  if (c.shape != Shape::kPattern) return false;
  const Pattern& lanes = *c.offsets;
  const int64_t step = lanes[1] - lanes[0];
  for (size_t l = 1; l < lanes.size(); ++l)
    if (lanes[l] - lanes[l - 1] != step) return false;
  return step % static_cast<int64_t>(bytes) == 0 && std::abs(step) > 2 * static_cast<int64_t>(bytes);
}

}  // namespace

void KernelWriter::find_row_groups(ir::BlockId id) {
  const ir::Block& block = source_.graph->blocks[id];
  rows_.clear();
  row_of_.assign(block.end - block.begin, kNoGroup);
  if (!source_.options.bounds || !source_.extend_patterns || source_.options.emit_events) return;
  using Key = std::tuple<uint32_t, ptx::Type, const Pattern*, const Pattern*>;  // root, and the lanes' shape
  std::map<Key, std::vector<RowLoad>> open;
  AddressForms forms;
  for (uint32_t i = block.begin; i < block.end; ++i) {
    const ptx::Instr& in = source_.function->body[i];
    if (ends_groups(in)) {
      for (auto& [key, loads] : open) make_rows(loads, block.begin);
      open.clear();
    } else if (in.def->role == ptx::Role::kLoad && in.guard == ptx::kNoReg && in.space() == ptx::Space::kGlobal) {
      const MemoryOperands m = memory_operands(source_, i);
      const uint32_t bytes = ptx::bytes_of(m.op.type);
      const WebId web = m.address->reg == ptx::kNoReg ? kNoWeb : lanes_.webs.read(i, m.address->reg);
      const bool plain = m.op.elements == 1 && (bytes == 4 || bytes == 8) && web != kNoWeb &&
                         m.address->symbol.kind == ptx::SymbolKind::kNone;
      if (plain && is_scattered(lanes_.info[web].cls, bytes)) {
        const LaneClass& cls = lanes_.info[web].cls;
        const AddressForm form = forms.of(m.address->reg);
        open[{form.root, m.op.type, cls.offsets, cls.steps}].push_back(
            {i, form.offset + static_cast<int64_t>(m.address->imm)});
      }
    }
    forms.pass(in);
  }
  for (auto& [key, loads] : open) make_rows(loads, block.begin);
}

/// Four neighbours, or two, at a time.
void KernelWriter::make_rows(const std::vector<RowLoad>& loads, uint32_t begin) {
  if (loads.size() < 2) return;
  const int64_t bytes = ptx::bytes_of(source_.function->body[loads[0].instr].type());
  std::map<int64_t, std::vector<uint32_t>> at;  // by offset
  for (const RowLoad& c : loads) at[c.offset].push_back(c.instr);
  while (!at.empty()) {
    const int64_t low = at.begin()->first;
    unsigned run = 1;
    while (run < (bytes == 4 ? 4u : 2u) && at.contains(low + run * bytes)) ++run;
    if (run == 3) run = 2;
    RowGroup group;
    group.low = low;
    group.elements = run;
    for (unsigned e = 0; e < run; ++e) {
      const auto found = at.find(low + e * bytes);
      for (const uint32_t instr : found->second) {
        if (run > 1) {
          group.first_instr = std::min(group.first_instr, instr);
          if (instr == group.first_instr) group.first_offset = found->first;
          row_of_[instr - begin] = static_cast<uint32_t>(rows_.size());
          group.members.push_back({instr, found->first});
        }
      }
      at.erase(found);
    }
    if (run > 1) rows_.push_back(std::move(group));
  }
}

/// False: its address is of a kind that is not read by rows after all.
bool KernelWriter::emit_row_member(uint32_t i, const MemoryOperands& m, RowGroup& group) {
  const LaneValue address = emitter_.convert(emitter_.address(*m.address), Elem::kI64);
  const auto member =
      std::find_if(group.members.begin(), group.members.end(), [&](const RowLoad& l) { return l.instr == i; });
  if (i == group.first_instr) {
    group.values = lower_row(e_, m.op, address, group.low - group.first_offset, group.elements,
                             [&](llvm::Value* holds) { require(holds); });
    group.address = address;
  } else if (!group.values.empty()) {
    const auto distance = static_cast<uint64_t>(member->offset - group.first_offset);
    require(ir_.CreateICmpEQ(address.base, ir_.CreateAdd(group.address.base, ir_.getInt64(distance))));
    if (address.scale != nullptr) require(ir_.CreateICmpEQ(address.scale, group.address.scale));
    count_load(e_, m.op, address);
  }
  if (group.values.empty()) return false;
  const auto element = static_cast<size_t>((member->offset - group.low) / ptx::bytes_of(m.op.type));
  emitter_.set(m.destination, group.values[element]);
  return true;
}

}  // namespace warplens::codegen
