// SPDX-License-Identifier: Apache-2.0
// Lane-class analysis: the class of every web, and where the lanes of a warp may be apart. Both depend on each other (a
// branch is divergent when its condition varies by lane; what meets behind a divergent branch varies by lane), so they
// are computed together, from "nothing diverges" up. Classes come from running each row's `lower` in abstract mode.
//
// What makes a web vary although each of its definitions is uniform (Karrenberg and Hack, "Improving Performance of
// OpenCL on CPUs"):
//   - a phi at a block that the two sides of a divergent branch reach apart (sync dependence);
//   - a value of a loop that lanes leave in different iterations, used behind it (temporal divergence).
//   - behind a spinning loop whose lanes may be parked (docs/divergence.md): lanes go on, and others catch up with them
//     at any later block, so whatever is kept there from block to block.
// A branch whose one side only ends the thread parts no lanes that meet again, so that the usual `if (i >= n) return;`
// costs nothing.
#pragma once
#include <vector>

#include "analysis/dominance.h"
#include "analysis/loops.h"
#include "codegen/kernel_source.h"
#include "codegen/web_info.h"
#include "codegen/webs.h"

namespace warplens::codegen {

struct LaneAnalysis {
  Webs webs;
  std::vector<WebInfo> info;           ///< by web
  std::vector<bool> diverged;          ///< by block: live lanes may wait elsewhere while it runs
  std::vector<bool> divergent_branch;  ///< by block: its lanes may choose different successors
  std::vector<bool> parks;             ///< by loop: it spins, and lanes may wait elsewhere that its lanes wait for
};

LaneAnalysis analyse_lanes(const KernelSource& source, const analysis::DominatorTree& dominators,
                           const analysis::DominatorTree& post_dominators, const analysis::Liveness& live);

/// What holds of `lanes`' webs as long as all lanes of a warp have gone the same way: nothing varies there because
/// lanes part. For code that a warp leaves for good when they do (CodePart::kFullMask). Where a web that is no vector
/// has one form here and another there, it is `lanes` itself.
LaneAnalysis analyse_whole_warps(const KernelSource& source, const LaneAnalysis& lanes);

}  // namespace warplens::codegen
