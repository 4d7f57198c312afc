// SPDX-License-Identifier: Apache-2.0
// Puts the bodies of the module's own functions where they are called, so that everything behind (graph, lane classes,
// executors, access sites) sees one function without calls of it. Compilers inline nearly all device code themselves;
// what is left is marked noinline or too large for their taste.
//
// All places that call one function share one copy of its registers and variables: without recursion, no thread is in a
// function twice at once. A .param variable of the call stands for the callee's parameter.
#pragma once
#include "base/result.h"
#include "ptx/module.h"

namespace warplens::passes {

/// `entry` with all calls of functions that `module` defines replaced. Calls of declared functions stay. Diagnostics:
/// recursion, parameters in registers, or a result that is too large.
Result<ptx::Function> inline_calls(const ptx::Module& module, const ptx::Function& entry, const ptx::OpTable& table);

/// Whether `function` calls anything that inline_calls would replace.
bool calls_defined_function(const ptx::Module& module, const ptx::Function& function);

}  // namespace warplens::passes
