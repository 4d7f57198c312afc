// SPDX-License-Identifier: Apache-2.0
// The class of every web, computed by running each row's `lower` in abstract mode until nothing changes. What control
// flow adds (values that meet behind a branch that lanes take differently) is told from outside: make_vary, or seed
// for what comes from outside of the blocks looked at.
#pragma once
#include <span>
#include <vector>

#include "codegen/kernel_source.h"
#include "codegen/lane_emitter.h"
#include "codegen/web_info.h"
#include "codegen/webs.h"

namespace warplens::codegen {

class ClassFlow final : private RegisterAccess {
 public:
  ClassFlow(const KernelSource& source, const Webs& webs);

  /// The web is a vector whatever its definitions are. False: it was one before.
  bool make_vary(WebId web);
  /// What definitions outside of the blocks to come give the web.
  void seed(WebId web, const LaneClass& cls);
  /// Visits the blocks, in the order of the layout, until nothing changes.
  void run(std::span<const ir::BlockId> blocks);

  /// Whether the block ends in a branch that the lanes of a full warp may take differently.
  bool is_divergent(ir::BlockId block);
  /// What is known of the web when nothing changes any more.
  WebInfo info(WebId web) const;

 private:
  struct ValueInfo {
    LaneClass cls;
    bool lazy_nan = false, nan_free = false;
    uint32_t changes = 0;
  };

  LaneValue read(ptx::RegId reg) override;
  void write(ptx::RegId reg, const LaneValue& value) override;
  void require(llvm::Value*) override {}
  void update(WebId web);
  void visit(uint32_t instr);
  void visit_load(uint32_t instr);

  const KernelSource& source_;
  const Webs& webs_;
  LaneEmitter emitter_;
  std::vector<WebInfo> info_;        // by web
  std::vector<LaneClass> seed_;      // by web
  std::vector<bool> varies_;         // by web
  std::vector<ValueInfo> of_value_;  // by value
  uint32_t instr_ = 0;
  bool guard_varies_ = false, changed_ = false;
};

}  // namespace warplens::codegen
