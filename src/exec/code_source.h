// SPDX-License-Identifier: Apache-2.0
// A loaded kernel as the code generator and its analyses take it.
#pragma once
#include "codegen/kernel_source.h"
#include "exec/executor.h"
#include "exec/function_handle.h"

namespace warplens::exec {

/// Everything but the choices of one version (shape, options). Refers to `kernel`, which must outlive it.
inline codegen::KernelSource source_of(const LoadedKernel& kernel) {
  codegen::KernelSource source;
  source.module = kernel.module->module.get();
  source.function = kernel.function;
  source.graph = &kernel.graph;
  source.accesses = &kernel.accesses;
  source.loops = &kernel.loops;
  source.spinning_loops = kernel.spinning_loops;
  source.symbols = kernel.symbols;
  source.variable_offsets = kernel.variable_offsets;
  source.call_frame_bytes = kernel.call_frame_bytes;
  source.function_handle = function_handle;
  return source;
}

}  // namespace warplens::exec
