// SPDX-License-Identifier: Apache-2.0
// See liveness.h. Each block is summed up once (what it reads before writing, what it writes); then a work list carries
// live sets backward until nothing changes.
#include "analysis/liveness.h"

namespace warplens::analysis {

size_t RegisterSet::size() const {
  size_t n = 0;
  for (const uint64_t w : words_) n += static_cast<size_t>(std::popcount(w));
  return n;
}

bool RegisterSet::merge(const RegisterSet& other) {
  uint64_t added = 0;
  for (size_t i = 0; i < words_.size(); ++i) {
    added |= other.words_[i] & ~words_[i];
    words_[i] |= other.words_[i];
  }
  return added != 0;
}

void RegisterSet::merge_without(const RegisterSet& other, const RegisterSet& removed) {
  for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i] & ~removed.words_[i];
}

Liveness liveness(const ir::Kernel& kernel) {
  const size_t registers = kernel.function->registers.size();
  const size_t blocks = kernel.blocks.size();
  std::vector<RegisterSet> writes(blocks, RegisterSet(registers));
  Liveness live;
  live.live_in.assign(blocks, RegisterSet(registers));  // begins as what the block reads first
  live.live_out.assign(blocks, RegisterSet(registers));
  for (ir::BlockId b = 0; b < blocks; ++b) {
    for (uint32_t i = kernel.blocks[b].begin; i < kernel.blocks[b].end; ++i) {
      const ptx::Instr& in = kernel.function->body[i];
      ir::for_each_read(in, [&](ptx::RegId r) {
        if (!writes[b].contains(r)) live.live_in[b].insert(r);
      });
      ir::for_each_write(in, [&](ptx::RegId r) { writes[b].insert(r); });
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = blocks; i-- > 0;) {
      const ir::BlockId b = kernel.reverse_post_order[i];
      bool grew = false;
      for (const ir::BlockId s : kernel.blocks[b].successors) grew |= live.live_out[b].merge(live.live_in[s]);
      if (grew) live.live_in[b].merge_without(live.live_out[b], writes[b]);
      changed |= grew;
    }
  }
  return live;
}

}  // namespace warplens::analysis
