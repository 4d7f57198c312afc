// SPDX-License-Identifier: Apache-2.0
// The fixpoint behind the questions "may this register differ by thread, by block ...": what some instructions write,
// and all that is computed from it. Flow-insensitive.
#pragma once
#include <vector>

#include "ir/kernel.h"
#include "ptx/module.h"

namespace warplens::machine {

/// By register: written by an instruction that `begins`, or that reads such a register.
template <typename Begins>
std::vector<bool> spread(const ptx::Function& function, Begins&& begins) {
  std::vector<bool> reached(function.registers.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (const ptx::Instr& in : function.body) {
      bool from = begins(in);
      ir::for_each_read(in, [&](ptx::RegId r) { from = from || reached[r]; });
      if (!from) continue;
      ir::for_each_write(in, [&](ptx::RegId r) {
        changed = changed || !reached[r];
        reached[r] = true;
      });
    }
  }
  return reached;
}

}  // namespace warplens::machine
