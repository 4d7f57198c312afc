// SPDX-License-Identifier: Apache-2.0
#include "codegen/equal_loops.h"

#include <algorithm>
#include <optional>

#include "codegen/class_flow.h"

namespace warplens::codegen {
namespace {

using ptx::Role;

/// A larger copy would cost more time to compile than it can save. What an access costs is far above arithmetic
/// (measured).
constexpr uint32_t kMostWork = 400, kWorkOfAccess = 64;

bool may_be_copied(Role role) {
  switch (role) {
    case Role::kValue:
    case Role::kWarp:
    case Role::kLoad:
    case Role::kStore:
    case Role::kAtomic:
    case Role::kReduction:
    case Role::kBranch:
    case Role::kExit:
    case Role::kReturn: return true;
    default: return false;
  }
}

bool is_access(Role role) {
  return role == Role::kLoad || role == Role::kStore || role == Role::kAtomic || role == Role::kReduction;
}

class LoopCopy {
 public:
  LoopCopy(const KernelSource& source, const LaneAnalysis& lanes, uint32_t loop)
      : source_(source),
        lanes_(lanes),
        range_(source.loops->loops[loop]),
        blocks_(source.loops->layout.begin() + range_.first, source.loops->layout.begin() + range_.last) {
    out_.loop = loop;
  }

  std::optional<EqualLoop> find() {
    if (!is_fit()) return std::nullopt;
    find_compared();
    if (out_.compared.empty() || !find_classes()) return std::nullopt;
    return std::move(out_);
  }

 private:
  bool is_fit() const {
    if (range_.irreducible || range_.first == 0) return false;
    for (uint32_t i = 0; i < source_.loops->loops.size(); ++i) {
      const analysis::Loop& inner = source_.loops->loops[i];
      if (source_.spinning_loops[i] && inner.first >= range_.first && inner.last <= range_.last) return false;
    }
    uint32_t work = 0;
    for (const ir::BlockId b : blocks_) {
      const ir::Block& block = source_.graph->blocks[b];
      for (uint32_t i = block.begin; i < block.end; ++i) {
        const Role role = source_.function->body[i].def->role;
        if (!may_be_copied(role)) return false;
        work += is_access(role) ? kWorkOfAccess : 1;
      }
    }
    return work <= kMostWork && std::ranges::any_of(blocks_, [&](ir::BlockId b) { return lanes_.divergent_branch[b]; });
  }

  /// The vectors at the header that a branch of the loop depends on.
  void find_compared() {
    std::vector<bool> steers(lanes_.webs.webs.size());
    for (const ir::BlockId b : blocks_) {
      const ir::Block& block = source_.graph->blocks[b];
      if (block.begin == block.end) continue;
      const ptx::RegId guard = source_.function->body[block.end - 1].guard;
      const WebId web = guard == ptx::kNoReg ? kNoWeb : lanes_.webs.read(block.end - 1, guard);
      if (web != kNoWeb) steers[web] = true;
    }
    for (bool more = true; more;) {
      more = false;
      for (const ir::BlockId b : blocks_)
        for (uint32_t i = source_.graph->blocks[b].begin; i < source_.graph->blocks[b].end; ++i)
          more |= spread(lanes_.webs.of_instr[i], steers);
    }
    for (const auto& [reg, web] : lanes_.webs.live_in[range_.header])
      if (web != kNoWeb && steers[web] && lanes_.info[web].cls.is_vector()) out_.compared.push_back(web);
  }

  static bool spread(const std::vector<RegisterUse>& uses, std::vector<bool>& steers) {
    const bool needed =
        std::ranges::any_of(uses, [&](const RegisterUse& u) { return u.written != kNoWeb && steers[u.written]; });
    bool more = false;
    for (const RegisterUse& u : uses) {
      if (!needed || u.read == kNoWeb || steers[u.read]) continue;
      steers[u.read] = more = true;
    }
    return more;
  }

  /// False: a branch is still one of vectors, or a form that is no vector outside differs.
  bool find_classes() {
    ClassFlow flow(source_, lanes_.webs);
    for (const auto& [reg, web] : lanes_.webs.live_in[range_.header])
      if (web != kNoWeb) flow.seed(web, lanes_.info[web].cls);
    for (const WebId web : out_.compared) flow.seed(web, LaneClass::uniform());
    flow.run(blocks_);
    for (const ir::BlockId b : blocks_)
      if (flow.is_divergent(b)) return false;
    out_.info = lanes_.info;
    for (const WebId web : out_.compared) out_.info[web].cls = flow.info(web).cls;
    for (const ir::BlockId b : blocks_)
      for (uint32_t i = source_.graph->blocks[b].begin; i < source_.graph->blocks[b].end; ++i)
        for (const RegisterUse& u : lanes_.webs.of_instr[i])
          if (u.written != kNoWeb) out_.info[u.written].cls = flow.info(u.written).cls;
    for (WebId w = 0; w < out_.info.size(); ++w) {
      if (!lanes_.info[w].cls.is_vector() && !same_form(out_.info[w].cls, lanes_.info[w].cls)) return false;
    }
    return std::ranges::all_of(out_.compared, [&](WebId w) { return out_.info[w].cls.is_uniform(); });
  }

  const KernelSource& source_;
  const LaneAnalysis& lanes_;
  const analysis::Loop& range_;
  std::vector<ir::BlockId> blocks_;
  EqualLoop out_;
};

}  // namespace

std::vector<EqualLoop> find_equal_loops(const KernelSource& source, const LaneAnalysis& lanes) {
  std::vector<EqualLoop> found;
  if (!source.lane_classes || source.part == CodePart::kMasked) return found;
  uint32_t behind = 0;  // positions before it are in a loop that was found
  for (uint32_t loop = 0; loop < source.loops->loops.size(); ++loop) {
    if (source.loops->loops[loop].first < behind) continue;
    if (auto copy = LoopCopy(source, lanes, loop).find()) {
      behind = source.loops->loops[loop].last;
      found.push_back(std::move(*copy));
    }
  }
  return found;
}

}  // namespace warplens::codegen
