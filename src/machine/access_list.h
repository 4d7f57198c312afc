// SPDX-License-Identifier: Apache-2.0
// Machine accesses: what counting works on. The list is made from PTX: each memory instruction is one access, atomics
// what the GPU's assembler makes of them (machine/atomics.h). Later passes reproduce what else it does: merge
// neighbouring loads, drop dead ones. Executors emit per *access*, never per PTX instruction, so those passes need no
// change in them.
#pragma once
#include <cstdint>
#include <vector>

#include "events/events.h"
#include "ir/kernel.h"
#include "machine/atomics.h"
#include "ptx/module.h"

namespace warplens::machine {

struct Access {
  uint32_t instr = 0;       ///< PTX instruction (index in Function::body) that performs it
  int32_t byte_offset = 0;  ///< added to the instruction's address (merged accesses start elsewhere)
  uint8_t bytes = 4;        ///< per lane
  events::Space space = events::Space::kGlobal;
  bool generic = false;  ///< where lanes of a generic access may turn out to be: one of three, see resolved_site
  events::Access access = events::Access::kLoad;
  events::Form form = events::Form::kPlain;
  events::Combined combined = events::Combined::kNever;
  bool estimate = false;
};

struct AccessList {
  std::vector<Access> accesses;                 ///< index = site number
  std::vector<std::vector<uint32_t>> of_instr;  ///< by instruction: the accesses that it performs, in order (empty:
                                                ///< none counted); of a generic access the first of its three sites
};

/// The identity: one access (three if generic) per ld/st/atom/red of global, shared, local, const or generic space
/// (ld.param is none). `facts`: by instruction, those of atomics and loads of constants; empty: without what the GPU's
/// assembler makes of them. An atomic that it makes a loop has two accesses: the compare and swap, and the loads.
AccessList accesses_of(const ptx::Function& function, const std::vector<AccessFacts>& facts = {});

/// Fills KernelInfo (pcs, places, sites, blocks) for listeners and reports. `parameter` of a site is found by following
/// the address back to an ld.param through moves, cvta, add and mad.
events::KernelInfo describe(const ptx::Module& module, const ptx::Function& function, const ir::Kernel& graph,
                            const AccessList& accesses);

}  // namespace warplens::machine
