// SPDX-License-Identifier: Apache-2.0
// The PTX of what a user names (a PTX file, the fat binary of a program, a CUDA source that is compiled for it), and
// what the GPU's assembler says about it where there is one.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compile/fatbin.h"
#include "compile/ptxas.h"

namespace warplens::cli {

/// `path`: PTX text, an executable or shared library, or a source, which is compiled for `target` (90; 0: the default).
/// Empty when a program has no PTX.
Result<std::vector<PtxImage>> device_code_of(const std::string& path, int target);

/// Of the images that a GPU of `target` (90 for 9.0) would run, what the assembler gives their kernels. Empty where
/// there is no assembler, or where it does not take them: then registers are estimated.
AssemblerUses assembled_for(const std::vector<PtxImage>& images, int target, int max_registers = 0);
/// The part of it that sessions take.
std::map<std::string, uint32_t> registers_of(const AssemblerUses& uses);

/// As nvcc's --resource-usage tells: a table of the kernels' registers, stack, spills, shared memory and barriers.
/// Without an assembler registers are estimates, marked ~, and spills are not known.
std::string resource_usage_text(const std::vector<PtxImage>& images, int target, const std::string& gpu,
                                int max_registers = 0);

}  // namespace warplens::cli
