// SPDX-License-Identifier: Apache-2.0
// What the GPU's assembler makes of an atomic: a reduction when nobody reads its result; one lane's work when all lanes
// name one place and their operands can be combined first; for shared memory a loop around compare and swap where the
// GPU has no such instruction. Which of these happens decides what is counted, and nothing of it is documented: all
// is measured on an H200 (truth/h200/warps_uniform*.csv, warps_shared_atomics.csv, warps_shared_more.csv).
#pragma once
#include <vector>

#include "events/events.h"
#include "ptx/module.h"

namespace warplens::machine {

/// What the analyses know of one access; asked for atomics and loads of constants.
struct AccessFacts {
  bool result_unused = false;  ///< nothing reads the old value
  bool one_place = false;      ///< all lanes name the same address, and the assembler can see that
  bool one_value = false;      ///< likewise its operand
};

struct AtomicPlan {
  events::Access access = events::Access::kAtomic;
  events::Form form = events::Form::kPlain;
  events::Combined combined = events::Combined::kNever;
  bool estimate = false;
};
/// For an atom or red in `space` (one of global, shared, local). `facts`: null when the assembler's changes are not
/// wanted, only what the hardware does.
AtomicPlan plan_atomic(const ptx::Instr& in, events::Space space, const AccessFacts* facts);

/// By register: its value may differ by thread as far as the assembler looks, that is, not through divisions or shifts
/// of the thread's index (threadIdx.x / 32 counts as different). Flow-insensitive; branches are not looked at.
std::vector<bool> registers_by_thread(const ptx::Function& function);

}  // namespace warplens::machine
