// SPDX-License-Identifier: Apache-2.0
// Functions that a kernel calls but does not bring along: what the CUDA system supplies (vprintf, __assertfail, malloc,
// free) and the mathematical built-ins of src/ops. Calls of the module's own functions are not supported yet.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "exec/warp_context.h"
#include "ptx/module.h"

namespace warplens::exec {

/// Empty when the call can run; else a sentence that says why not.
std::string why_call_cannot_run(const ptx::Module& module, const ptx::Instr& call);

/// Performs the call for one lane. `arguments` and `results` are raw bits, one element for each parameter.
/// May end the warp for good (a failed assertion).
void call_function(WarpContext& warp, const std::string& name, uint32_t pc, unsigned lane,
                   std::span<const uint64_t> arguments, std::span<uint64_t> results);

/// The callee's name; empty when the call is indirect.
std::string callee_name(const ptx::Module& module, const ptx::Instr& call);

}  // namespace warplens::exec
