// SPDX-License-Identifier: Apache-2.0
#include "codegen/webs.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace warplens::codegen {
namespace {

constexpr uint32_t kNoValue = ~uint32_t{0};

using Frontiers = std::vector<std::vector<ir::BlockId>>;

Frontiers dominance_frontiers(const ir::Kernel& kernel, const analysis::DominatorTree& tree) {
  Frontiers out(kernel.blocks.size());
  for (ir::BlockId b = 0; b < kernel.blocks.size(); ++b) {
    // The entry has an edge from outside, so a loop back to it joins there too.
    if (kernel.blocks[b].predecessors.size() + (b == 0) < 2) continue;
    for (const ir::BlockId p : kernel.blocks[b].predecessors) {
      for (ir::BlockId runner = p; b == 0 || runner != tree.parent[b]; runner = tree.parent[runner]) {
        auto& f = out[runner];
        if (std::find(f.begin(), f.end(), b) == f.end()) f.push_back(b);
        if (runner == tree.root) break;
      }
    }
  }
  return out;
}

class Builder {
 public:
  Builder(const ir::Kernel& kernel, const analysis::DominatorTree& tree, const analysis::Liveness& live)
      : kernel_(kernel), tree_(tree), live_(live), body_(kernel.function->body) {}

  Webs run() {
    const size_t blocks = kernel_.blocks.size(), registers = kernel_.function->registers.size();
    webs_.of_instr.resize(body_.size());
    webs_.live_in.resize(blocks);
    phis_.resize(blocks);
    children_.resize(blocks);
    for (ir::BlockId b = 0; b < blocks; ++b)
      if (b != tree_.root) children_[tree_.parent[b]].push_back(b);
    place_phis();
    current_.assign(registers, kNoValue);
    rename();
    join_values();
    return std::move(webs_);
  }

 private:
  void place_phis() {
    const Frontiers frontiers = dominance_frontiers(kernel_, tree_);
    std::vector<std::vector<ir::BlockId>> def_blocks(kernel_.function->registers.size());
    for (ir::BlockId b = 0; b < kernel_.blocks.size(); ++b)
      for (uint32_t i = kernel_.blocks[b].begin; i < kernel_.blocks[b].end; ++i)
        ir::for_each_write(body_[i], [&](ptx::RegId r) {
          if (def_blocks[r].empty() || def_blocks[r].back() != b) def_blocks[r].push_back(b);
        });
    for (ptx::RegId r = 0; r < def_blocks.size(); ++r) {
      std::vector<ir::BlockId> work = def_blocks[r];
      std::vector<bool> has_phi(work.empty() ? 0 : kernel_.blocks.size());
      while (!work.empty()) {
        const ir::BlockId b = work.back();
        work.pop_back();
        for (const ir::BlockId f : frontiers[b]) {
          if (has_phi[f] || !live_.live_in[f].contains(r)) continue;
          has_phi[f] = true;
          phis_[f].push_back(add_value(r, f, true, 0));
          work.push_back(f);
        }
      }
    }
  }

  uint32_t add_value(ptx::RegId reg, ir::BlockId block, bool phi, uint32_t instr) {
    webs_.values.push_back({reg, block, phi, instr, {}, kNoWeb});
    parent_.push_back(static_cast<uint32_t>(parent_.size()));
    return static_cast<uint32_t>(parent_.size() - 1);
  }

  // Dominator-tree walk with an explicit stack; what a block changed in current_ is put back when its subtree is done.
  void rename() {
    struct Frame {
      ir::BlockId block;
      size_t child = 0;
      std::vector<std::pair<ptx::RegId, uint32_t>> saved;
    };
    std::vector<Frame> stack;
    stack.push_back({tree_.root, 0, {}});
    enter(tree_.root, stack.back().saved);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.child < children_[top.block].size()) {
        const ir::BlockId next = children_[top.block][top.child++];
        stack.push_back({next, 0, {}});
        enter(next, stack.back().saved);
        continue;
      }
      for (size_t i = top.saved.size(); i-- > 0;) current_[top.saved[i].first] = top.saved[i].second;
      stack.pop_back();
    }
  }

  void enter(ir::BlockId b, std::vector<std::pair<ptx::RegId, uint32_t>>& saved) {
    const auto assign = [&](ptx::RegId r, uint32_t value) {
      saved.emplace_back(r, current_[r]);
      current_[r] = value;
    };
    for (const uint32_t phi : phis_[b]) assign(webs_.values[phi].reg, phi);
    live_.live_in[b].for_each([&](ptx::RegId r) { live_values_.push_back({b, r, current_[r]}); });
    for (uint32_t i = kernel_.blocks[b].begin; i < kernel_.blocks[b].end; ++i) rename_instr(b, i, assign);
    for (const ir::BlockId s : kernel_.blocks[b].successors) {
      for (const uint32_t phi : phis_[s]) {
        const uint32_t value = current_[webs_.values[phi].reg];
        if (value == kNoValue) continue;
        unite(phi, value);
        webs_.values[value].use_blocks.push_back(s);
      }
    }
  }

  template <typename F>
  void rename_instr(ir::BlockId b, uint32_t i, F&& assign) {
    auto& uses = webs_.of_instr[i];
    const auto entry = [&](ptx::RegId r) -> RegisterUse& {
      for (RegisterUse& u : uses)
        if (u.reg == r) return u;
      uses.push_back({r, kNoWeb, kNoWeb, 0});
      return uses.back();
    };
    // Until join_values the fields hold value numbers.
    ir::for_each_read(body_[i], [&](ptx::RegId r) {
      entry(r).read = current_[r];
      if (current_[r] != kNoValue) webs_.values[current_[r]].use_blocks.push_back(b);
    });
    ir::for_each_write(body_[i], [&](ptx::RegId r) {
      const uint32_t value = add_value(r, b, false, i);
      if (body_[i].guard != ptx::kNoReg && current_[r] != kNoValue) unite(value, current_[r]);
      RegisterUse& u = entry(r);
      u.written = u.value = value;
      assign(r, value);
    });
  }

  uint32_t find(uint32_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void unite(uint32_t a, uint32_t b) { parent_[find(a)] = find(b); }

  void join_values() {
    std::vector<WebId> web_of_root(parent_.size(), kNoWeb);
    for (uint32_t v = 0; v < webs_.values.size(); ++v) {
      WebId& web = web_of_root[find(v)];
      if (web == kNoWeb) {
        web = static_cast<WebId>(webs_.webs.size());
        webs_.webs.push_back({webs_.values[v].reg, {}});
      }
      webs_.values[v].web = web;
      webs_.webs[web].values.push_back(v);
    }
    const auto to_web = [&](uint32_t value) { return value == kNoValue ? kNoWeb : webs_.values[value].web; };
    for (auto& uses : webs_.of_instr)
      for (RegisterUse& u : uses) {
        u.read = to_web(u.read);
        u.written = to_web(u.written);
      }
    for (const auto& [block, reg, value] : live_values_)
      if (value != kNoValue) webs_.live_in[block].emplace_back(reg, to_web(value));
  }

  struct LiveValue {
    ir::BlockId block;
    ptx::RegId reg;
    uint32_t value;
  };
  const ir::Kernel& kernel_;
  const analysis::DominatorTree& tree_;
  const analysis::Liveness& live_;
  const std::vector<ptx::Instr>& body_;
  Webs webs_;
  std::vector<std::vector<uint32_t>> phis_;         // by block
  std::vector<std::vector<ir::BlockId>> children_;  // of the dominator tree
  std::vector<uint32_t> current_;                   // by register
  std::vector<uint32_t> parent_;                    // union-find over values
  std::vector<LiveValue> live_values_;
};

}  // namespace

const RegisterUse* Webs::use(uint32_t instr, ptx::RegId reg) const {
  for (const RegisterUse& u : of_instr[instr])
    if (u.reg == reg) return &u;
  return nullptr;
}

WebId Webs::read(uint32_t instr, ptx::RegId reg) const {
  const RegisterUse* u = use(instr, reg);
  return u == nullptr ? kNoWeb : u->read;
}

Webs build_webs(const ir::Kernel& kernel, const analysis::DominatorTree& dominators, const analysis::Liveness& live) {
  return Builder(kernel, dominators, live).run();
}

}  // namespace warplens::codegen
