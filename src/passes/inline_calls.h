// SPDX-License-Identifier: Apache-2.0
// Puts the bodies of the module's own functions where they are called, so that everything behind (graph, lane classes,
// executors, access sites) sees one function without calls of it. Compilers inline nearly all device code themselves;
// what is left is marked noinline or too large for their taste.
//
// All places that call one function share one copy of its registers and variables: without recursion, no thread is in a
// function twice at once. A .param variable of the call stands for the callee's parameter.
//
// A call through a pointer becomes a chain of comparisons with the functions whose address the module takes and whose
// parameters have the same sizes, each with its body behind it; a pointer to none of them traps.
#pragma once
#include "base/result.h"
#include "ptx/module.h"

namespace warplens::passes {

/// The value of a pointer to Module::functions[index].
using FunctionHandle = uint64_t (*)(uint32_t index);

/// `entry` with all calls of functions that `module` defines, and all calls through pointers, replaced. Calls of
/// declared functions stay. Diagnostics: recursion, arguments that are neither .param variables nor registers as the
/// function has them, or a result that is too large.
Result<ptx::Function> inline_calls(const ptx::Module& module, const ptx::Function& entry, const ptx::OpTable& table,
                                   FunctionHandle handle_of);

/// Whether `function` calls anything that inline_calls would replace.
bool calls_defined_function(const ptx::Module& module, const ptx::Function& function);

}  // namespace warplens::passes
