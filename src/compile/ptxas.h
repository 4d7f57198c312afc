// SPDX-License-Identifier: Apache-2.0
// Registers and memory that the GPU's assembler gives to kernels, from the text that `ptxas -v` prints, on machines
// with a CUDA toolkit. Only that text is used; the machine code that comes with it is thrown away unread.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace warplens {

struct AssemblerUse {
  uint32_t registers = 0, barriers = 0;
  uint64_t stack_bytes = 0, spill_store_bytes = 0, spill_load_bytes = 0;
  uint64_t shared_bytes = 0;  ///< static
};
/// By mangled name of the kernel.
using AssemblerUses = std::map<std::string, AssemblerUse>;

/// The assembler of $CUDA_HOME or $CUDA_PATH, on PATH, or in /usr/local/cuda; "" when there is none, or when the
/// environment says WARPLENS_PTXAS=off.
std::string find_ptxas();

/// Assembles `ptx` for sm_<target>. Fails when the assembler refuses it (a target it does not know, newer PTX), with
/// its first words. max_registers: as nvcc's -maxrregcount; 0: none.
Result<AssemblerUses> assembler_uses(const std::string& ptxas, const std::string& ptx, int target, int max_registers);

/// What `ptxas -v` printed, as a table. Lines that are not understood are passed over.
AssemblerUses parse_ptxas_output(std::string_view text);

}  // namespace warplens
