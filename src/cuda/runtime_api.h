// SPDX-License-Identifier: Apache-2.0
// The runtime's C interface as programs see it (include/cuda), with its functions visible outside the library, and what
// every one of them shares: the last error of the thread, the sticky error of the device, aliases of names.
#pragma once
#pragma GCC visibility push(default)
#include "cuda_runtime_api.h"
#pragma GCC visibility pop
// CUDA's keyword is also a spelling that libstdc++ uses inside __attribute__.
#undef __noinline__

/// For functions that the header does not declare.
#define WARPLENS_EXPORT extern "C" __attribute__((visibility("default")))
/// A second name for a function defined in the same file (per-thread default stream variants, numbered versions).
#define WARPLENS_ALIAS(name, target) \
  extern "C" __attribute__((visibility("default"), alias(#target))) decltype(target) name

namespace warplens::cuda {

/// Major version of the library that was built (12 or 13): the two differ in a few answers and one struct layout.
extern const int kRuntimeMajor;

/// Remembers `error` as this thread's last error unless it is success or "not ready"; returns it.
cudaError_t remember(cudaError_t error);

}  // namespace warplens::cuda
