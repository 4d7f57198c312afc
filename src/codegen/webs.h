// SPDX-License-Identifier: Apache-2.0
// Webs: PTX registers split into the pieces that code generation gives one variable each. Compilers reuse a register
// for unrelated values, and inline asm does always; a class per register would mix them. So registers are brought into
// SSA form (pruned, Cytron et al.), and values of one register that meet at phis, or through an instruction that a
// guard may hold back, form one web. Values of different webs never need the same variable.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/dominance.h"
#include "analysis/liveness.h"
#include "ir/kernel.h"

namespace warplens::codegen {

using WebId = uint32_t;
constexpr WebId kNoWeb = ~WebId{0};

/// One SSA value.
struct WebValue {
  ptx::RegId reg = 0;
  ir::BlockId block = 0;
  bool is_phi = false;
  uint32_t instr = 0;                   ///< that defines it (not a phi)
  std::vector<ir::BlockId> use_blocks;  ///< blocks of instructions that read it and of phis that take it
  WebId web = kNoWeb;
};

struct Web {
  ptx::RegId reg = 0;
  std::vector<uint32_t> values;
};

/// What instruction `i` does to one register.
struct RegisterUse {
  ptx::RegId reg = 0;
  WebId read = kNoWeb, written = kNoWeb;  ///< kNoWeb: not, or not defined on any path
  uint32_t value = 0;                     ///< the value written
};

struct Webs {
  std::vector<WebValue> values;
  std::vector<Web> webs;
  std::vector<std::vector<RegisterUse>> of_instr;                  ///< by instruction
  std::vector<std::vector<std::pair<ptx::RegId, WebId>>> live_in;  ///< by block

  WebId read(uint32_t instr, ptx::RegId reg) const;
  const RegisterUse* use(uint32_t instr, ptx::RegId reg) const;
};

Webs build_webs(const ir::Kernel& kernel, const analysis::DominatorTree& dominators, const analysis::Liveness& live);

}  // namespace warplens::codegen
