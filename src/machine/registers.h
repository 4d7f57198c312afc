// SPDX-License-Identifier: Apache-2.0
// Registers per thread without the GPU's assembler: an estimate from the PTX, for occupancy where no `ptxas -v` is at
// hand. PTX names as many registers as it likes; what counts is how many values are needed at once. Everything that
// shows this number calls it an estimate; docs/occupancy.md has its error on kernels whose number is known.
#pragma once
#include <cstdint>

#include "analysis/liveness.h"
#include "ir/kernel.h"

namespace warplens::machine {

/// 32-bit registers per thread, bounded by the kernel's .maxnreg and by what __launch_bounds__ leave of `of_sm`
/// registers (65536 on every GPU so far).
uint32_t estimated_registers(const ir::Kernel& kernel, const analysis::Liveness& live, uint32_t of_sm = 65536);

/// The most 32-bit values that are needed at once and differ between threads; for tests, and the estimate's core.
uint32_t register_pressure(const ir::Kernel& kernel, const analysis::Liveness& live);

/// What a block of the kernel takes of an SM, as far as the PTX tells.
struct ResourceUse {
  uint32_t registers = 0;  ///< per thread
  bool estimated = true;   ///< false: the assembler's number
  uint32_t barriers = 0;
  void set_registers(uint32_t told) {
    registers = told;
    estimated = false;
  }
};
ResourceUse resource_use(const ir::Kernel& kernel);

/// Barriers of a block (bar.sync 0 ... 15) that the kernel names, at least 1 when it has any; all 16 when a register
/// names one.
uint32_t barriers_used(const ptx::Function& function);

}  // namespace warplens::machine
