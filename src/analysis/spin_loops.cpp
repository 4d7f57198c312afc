// SPDX-License-Identifier: Apache-2.0
#include "analysis/spin_loops.h"

#include "ir/barrier_blocks.h"

namespace warplens::analysis {
namespace {

/// Whether another thread's write can change what the instruction reads from one execution to the next.
bool reads_moving_memory(const ptx::Instr& in) {
  switch (in.def->role) {
    case ptx::Role::kAtomic:
    case ptx::Role::kWarpMemory: return true;
    case ptx::Role::kLoad: return in.has("volatile") || in.has("relaxed") || in.has("acquire") || in.has("mmio");
    default: return false;
  }
}

bool ends_block_under_guard(const ptx::Instr& in) {
  switch (in.def->role) {
    case ptx::Role::kBranch:
    case ptx::Role::kReturn:
    case ptx::Role::kExit: return in.guard != ptx::kNoReg;
    default: return false;
  }
}

bool spins(const ir::Kernel& kernel, const LoopForest& forest, const Loop& loop) {
  std::vector<bool> moving(kernel.function->registers.size());
  const auto for_each_instr = [&](auto&& f) {
    for (uint32_t p = loop.first; p < loop.last; ++p) {
      const ir::Block& block = kernel.blocks[forest.layout[p]];
      for (uint32_t i = block.begin; i < block.end; ++i) f(kernel.function->body[i]);
    }
  };
  for (bool changed = true; changed;) {
    changed = false;
    for_each_instr([&](const ptx::Instr& in) {
      bool marked = reads_moving_memory(in);
      ir::for_each_read(in, [&](ptx::RegId r) { marked = marked || moving[r]; });
      if (!marked) return;
      ir::for_each_write(in, [&](ptx::RegId r) {
        changed = changed || !moving[r];
        moving[r] = true;
      });
    });
  }
  bool found = false;
  for_each_instr([&](const ptx::Instr& in) { found = found || (ends_block_under_guard(in) && moving[in.guard]); });
  return found;
}

}  // namespace

std::vector<bool> find_spinning_loops(const ir::Kernel& kernel, const LoopForest& forest) {
  std::vector<bool> result;
  for (const Loop& loop : forest.loops) result.push_back(spins(kernel, forest, loop));
  return result;
}

bool begins_with_barrier(const ir::Kernel& kernel, ir::BlockId id) {
  const ir::Block& block = kernel.blocks[id];
  for (uint32_t i = block.begin; i < block.end; ++i) {
    const ptx::Instr& in = kernel.function->body[i];
    if (ir::is_barrier(in)) return true;
    if (!ir::is_unseen(in)) return false;
  }
  return false;
}

}  // namespace warplens::analysis
