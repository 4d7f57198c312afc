// SPDX-License-Identifier: Apache-2.0
// Builds the control-flow graph: leaders (entry, branch targets, what follows a block end), edges from the rows' roles,
// then only what can be reached is kept and numbered in text order. All walks use explicit stacks: a kernel may have
// thousands of blocks in one chain.
#include "ir/kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/barrier_blocks.h"
#include "ptx/parser.h"

namespace warplens::ir {
namespace {

using ptx::Instr;
using ptx::Role;

bool ends_block(const Instr& in) {
  switch (in.def->role) {
    case Role::kBranch:
    case Role::kBranchIndexed:
    case Role::kReturn:
    case Role::kExit: return true;
    default: return false;
  }
}

/// Calls f(instruction index) for each place that `in` may jump to.
template <typename F>
void for_each_target(const ptx::Function& fn, const Instr& in, F&& f) {
  if (in.def->role != Role::kBranch && in.def->role != Role::kBranchIndexed) return;
  for (const ptx::Operand& o : in.operands) {
    if (o.tag == ptx::OperandTag::kLabel) f(o.first);
    if (o.tag != ptx::OperandTag::kBranchTable) continue;
    for (const uint32_t target : fn.branch_tables[o.first]) f(target);
  }
}

/// A block before those that cannot be reached are dropped; successors are instruction indices of leaders.
struct Draft {
  uint32_t begin, end;
  std::vector<uint32_t> successors;
  bool exits = false;
  bool reached = false;
};

/// By instruction, and one behind: whether a block begins there.
std::vector<bool> find_leaders(const ptx::Function& fn) {
  const auto size = static_cast<uint32_t>(fn.body.size());
  std::vector<bool> leader(size + 1);
  leader[0] = true;
  for (uint32_t i = 0; i < size; ++i) {
    if (!ends_block(fn.body[i])) continue;
    leader[i + 1] = true;
    for_each_target(fn, fn.body[i], [&](uint32_t t) { leader[t] = true; });
  }
  return leader;
}

void add_barrier_leaders(const ptx::Function& fn, std::vector<bool>& leader) {
  bool unseen = true, in_front = true;  // so far in this block: nothing that others can see; no barrier
  for (uint32_t i = 0; i < fn.body.size(); ++i) {
    if (leader[i]) unseen = in_front = true;
    if (is_barrier(fn.body[i])) {
      if (in_front && !unseen) leader[i] = true;
      in_front = false;
    }
    unseen = unseen && is_unseen(fn.body[i]);
  }
}

std::vector<Draft> draft_blocks(const ptx::Function& fn, const std::vector<bool>& leader) {
  const auto size = static_cast<uint32_t>(fn.body.size());
  std::vector<Draft> drafts;
  for (uint32_t begin = 0; begin < size || begin == 0;) {
    uint32_t end = std::min(begin + 1, size);
    while (end < size && !leader[end]) ++end;
    Draft d{begin, end, {}};
    const Instr* last = end > begin ? &fn.body[end - 1] : nullptr;
    const auto add = [&](uint32_t target) {
      if (target >= size)
        d.exits = true;
      else if (std::find(d.successors.begin(), d.successors.end(), target) == d.successors.end())
        d.successors.push_back(target);
    };
    const bool jumps = last && ends_block(*last);
    if (jumps) {
      for_each_target(fn, *last, add);
      d.exits |= last->def->role == Role::kReturn || last->def->role == Role::kExit;
    }
    if (!jumps || last->guard != ptx::kNoReg) add(end);
    drafts.push_back(std::move(d));
    if (end == begin) break;
    begin = end;
  }
  return drafts;
}

std::vector<BlockId> post_order_from_entry(const Kernel& k) {
  std::vector<BlockId> order;
  std::vector<bool> seen(k.blocks.size());
  std::vector<std::pair<BlockId, size_t>> stack{{0, 0}};
  seen[0] = true;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    // The target of a branch is visited first: in reverse post-order it stands behind what falls through.
    const auto& successors = k.blocks[block].successors;
    if (next == successors.size()) {
      order.push_back(block);
      stack.pop_back();
      continue;
    }
    const BlockId s = successors[next++];
    if (seen[s]) continue;
    seen[s] = true;
    stack.emplace_back(s, 0);
  }
  return order;
}

Kernel build_from(const ptx::Function& function, const std::vector<bool>& leaders) {
  Kernel k;
  k.function = &function;
  std::vector<Draft> drafts = draft_blocks(function, leaders);
  std::vector<uint32_t> draft_at(function.body.size() + 1);  // leader -> draft
  for (uint32_t i = 0; i < drafts.size(); ++i) draft_at[drafts[i].begin] = i;

  std::vector<uint32_t> work{0};
  drafts[0].reached = true;
  while (!work.empty()) {
    const uint32_t d = work.back();
    work.pop_back();
    for (const uint32_t target : drafts[d].successors) {
      Draft& next = drafts[draft_at[target]];
      if (next.reached) continue;
      next.reached = true;
      work.push_back(draft_at[target]);
    }
  }

  std::vector<BlockId> number(drafts.size(), kNoBlock);
  BlockId count = 0;
  for (uint32_t i = 0; i < drafts.size(); ++i)
    if (drafts[i].reached) number[i] = count++;
  k.blocks.resize(count);
  k.block_of.assign(function.body.size(), kNoBlock);
  for (uint32_t i = 0; i < drafts.size(); ++i) {
    if (!drafts[i].reached) continue;
    const BlockId id = number[i];
    k.blocks[id].begin = drafts[i].begin;
    k.blocks[id].end = drafts[i].end;
    k.blocks[id].exits = drafts[i].exits;
    std::fill(k.block_of.begin() + drafts[i].begin, k.block_of.begin() + drafts[i].end, id);
    for (const uint32_t target : drafts[i].successors) {
      const BlockId to = number[draft_at[target]];
      k.blocks[id].successors.push_back(to);
      k.blocks[to].predecessors.push_back(id);
    }
  }
  k.reverse_post_order = post_order_from_entry(k);
  std::reverse(k.reverse_post_order.begin(), k.reverse_post_order.end());
  return k;
}

}  // namespace

Kernel build(const ptx::Function& function) {
  WL_CHECK(!function.is_declaration, "'{}' has no body", function.name);
  return build_from(function, find_leaders(function));
}

Kernel build_with_barrier_blocks(const ptx::Function& function) {
  WL_CHECK(!function.is_declaration, "'{}' has no body", function.name);
  std::vector<bool> leaders = find_leaders(function);
  add_barrier_leaders(function, leaders);
  return build_from(function, leaders);
}

bool is_unseen(const Instr& in) {
  switch (in.def->role) {
    case Role::kValue:
    case Role::kLoad:
    case Role::kFence:
    case Role::kNoEffect: return true;
    default: return false;
  }
}

bool is_barrier(const Instr& in) { return in.def->role == Role::kBarrier || in.def->role == Role::kClusterBarrier; }

bool is_aligned_barrier(const Instr& in) {
  return is_barrier(in) && (in.def->form.slot("aligned") < 0 || in.has("aligned"));
}

std::string dump(const Kernel& kernel, const ptx::Module* module) {
  std::string text;
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    const Block& block = kernel.blocks[b];
    text += fmt::format("b{} [{}, {})", b, block.begin, block.end);
    if (!block.successors.empty()) text += " ->";
    for (const BlockId s : block.successors) text += fmt::format(" b{}", s);
    text += block.exits ? " exits\n" : "\n";
    if (!module) continue;
    for (uint32_t i = block.begin; i < block.end; ++i)
      text += fmt::format("  {:4}  {}\n", i, ptx::print(*module, *kernel.function, kernel.function->body[i]));
  }
  return text;
}

}  // namespace warplens::ir
