// SPDX-License-Identifier: Apache-2.0
// See dominance.h. Both trees come from one function over a plain graph; for post-dominators it gets the reversed graph
// with the virtual exit as root.
#include "analysis/dominance.h"

#include <algorithm>

namespace warplens::analysis {
namespace {

using ir::BlockId;
using ir::kNoBlock;

struct Graph {
  std::vector<std::vector<BlockId>> successors, predecessors;
  explicit Graph(size_t n) : successors(n), predecessors(n) {}
  void add(BlockId from, BlockId to) {
    successors[from].push_back(to);
    predecessors[to].push_back(from);
  }
};

std::vector<BlockId> post_order(const Graph& g, BlockId root) {
  std::vector<BlockId> order;
  std::vector<bool> seen(g.successors.size());
  std::vector<std::pair<BlockId, size_t>> stack{{root, 0}};
  seen[root] = true;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == g.successors[node].size()) {
      order.push_back(node);
      stack.pop_back();
      continue;
    }
    const BlockId s = g.successors[node][next++];
    if (seen[s]) continue;
    seen[s] = true;
    stack.emplace_back(s, 0);
  }
  return order;
}

DominatorTree tree_of(const Graph& g, BlockId root) {
  const std::vector<BlockId> order = post_order(g, root);
  std::vector<uint32_t> rank(g.successors.size());
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  DominatorTree t;
  t.root = root;
  t.parent.assign(g.successors.size(), kNoBlock);
  t.parent[root] = root;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = order.size() - 1; i-- > 0;) {  // reverse post-order without the root
      const BlockId b = order[i];
      BlockId parent = kNoBlock;
      for (BlockId p : g.predecessors[b]) {
        if (t.parent[p] == kNoBlock) continue;
        if (parent == kNoBlock) parent = p;
        while (p != parent) {
          if (rank[p] < rank[parent])
            p = t.parent[p];
          else
            parent = t.parent[parent];
        }
      }
      changed |= t.parent[b] != parent;
      t.parent[b] = parent;
    }
  }
  t.depth.assign(g.successors.size(), 0);
  for (size_t i = order.size(); i-- > 0;)
    if (order[i] != root) t.depth[order[i]] = t.depth[t.parent[order[i]]] + 1;
  return t;
}

}  // namespace

BlockId DominatorTree::common(BlockId a, BlockId b) const {
  while (a != b) {
    if (depth[a] >= depth[b])
      a = parent[a];
    else
      b = parent[b];
  }
  return a;
}

bool DominatorTree::dominates(BlockId a, BlockId b) const {
  while (depth[b] > depth[a]) b = parent[b];
  return a == b;
}

DominatorTree dominators(const ir::Kernel& kernel) {
  Graph g(kernel.blocks.size());
  for (BlockId b = 0; b < kernel.blocks.size(); ++b)
    for (const BlockId s : kernel.blocks[b].successors) g.add(b, s);
  return tree_of(g, 0);
}

DominatorTree post_dominators(const ir::Kernel& kernel) {
  const auto exit = static_cast<BlockId>(kernel.blocks.size());
  Graph g(kernel.blocks.size() + 1);
  for (BlockId b = 0; b < exit; ++b) {
    for (const BlockId s : kernel.blocks[b].successors) g.add(s, b);
    if (kernel.blocks[b].exits) g.add(exit, b);
  }
  // Blocks from which no exit can be reached circle in loops without end. The last of them in reverse post-order is
  // given an edge to the exit, until every block has a way out.
  std::vector<bool> leaves(kernel.blocks.size() + 1);
  for (const BlockId b : post_order(g, exit)) leaves[b] = true;
  for (size_t i = kernel.reverse_post_order.size(); i-- > 0;) {
    const BlockId b = kernel.reverse_post_order[i];
    if (leaves[b]) continue;
    g.add(exit, b);
    for (const BlockId r : post_order(g, b)) leaves[r] = true;
  }
  return tree_of(g, exit);
}

}  // namespace warplens::analysis
