// SPDX-License-Identifier: Apache-2.0
#include "analysis/barrier_paths.h"

#include <algorithm>

#include "ir/barrier_blocks.h"

namespace warplens::analysis {
namespace {

using ir::BlockId;

template <typename F>
bool any_instruction(const ir::Kernel& kernel, BlockId b, F&& f) {
  const auto& body = kernel.function->body;
  return std::any_of(body.begin() + kernel.blocks[b].begin, body.begin() + kernel.blocks[b].end, f);
}

bool has_effect(const ptx::Instr& in) {
  switch (in.def->role) {
    case ptx::Role::kBranch:
    case ptx::Role::kBranchIndexed:
    case ptx::Role::kReturn:
    case ptx::Role::kExit: return false;
    default: return !ir::is_unseen(in);
  }
}

}  // namespace

BarrierPaths::BarrierPaths(const ir::Kernel& kernel)
    : kernel_(&kernel),
      post_dominators_(post_dominators(kernel)),
      only_ends_(kernel.blocks.size()),
      meets_(kernel.blocks.size()) {
  const auto& order = kernel.reverse_post_order;
  // From the ends backwards and once, so that a loop, which may go on for ever, does more than end.
  for (auto b = order.rbegin(); b != order.rend(); ++b)
    only_ends_[*b] = !any_instruction(kernel, *b, has_effect) &&
                     std::ranges::all_of(kernel.blocks[*b].successors, [&](BlockId s) { return only_ends_[s]; });
  for (BlockId b = 0; b < meets_.size(); ++b) meets_[b] = any_instruction(kernel, b, ir::is_barrier);
  for (bool more = true; more;) {
    more = false;
    for (auto b = order.rbegin(); b != order.rend(); ++b)
      if (!meets_[*b] && std::ranges::any_of(kernel.blocks[*b].successors, [&](BlockId s) { return meets_[s]; }))
        meets_[*b] = more = true;
  }
}

bool BarrierPaths::missing(BlockId barrier, BlockId at) const {
  if (meets_[at]) return true;
  std::vector<bool> seen(kernel_->blocks.size());
  std::vector<BlockId> work = {at};
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    if (seen[b] || only_ends_[b]) continue;
    if (post_dominators_.dominates(b, barrier)) return true;
    seen[b] = true;
    for (const BlockId s : kernel_->blocks[b].successors) work.push_back(s);
  }
  return false;
}

}  // namespace warplens::analysis
