// SPDX-License-Identifier: Apache-2.0
// The frame around driver functions (cu...). They stand on the runtime's: the device, streams, events and memory are
// the same, and handles of streams and events can be used in both. What differs: every call but a few needs cuInit and
// a current context, and errors are not remembered for cudaGetLastError. libcuda.so.1 holds nothing but the name: it
// brings in libcudart, which exports these functions.
#pragma once
#include "cuda.h"
#include "cuda/entry.h"

/// For driver functions: the header declares them without visibility.
#define WARPLENS_DRIVER extern "C" __attribute__((visibility("default"))) CUresult

namespace warplens::cuda {

/// The driver's number of a runtime error: most are equal.
CUresult result_of(cudaError_t error);
/// cuInit was called.
bool driver_started();
/// This thread has a current context.
bool has_context();

/// Runs a runtime call without leaving its error to cudaGetLastError.
template <typename F>
cudaError_t quietly(F&& call) {
  const cudaError_t before = cudaGetLastError();
  const cudaError_t error = call();
  cudaGetLastError();
  remember(before);
  return error;
}

/// A driver function that does what `call` does.
template <typename F>
CUresult in_context(F&& call) {
  if (!driver_started()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  return result_of(quietly(call));
}

inline void* pointer_of(CUdeviceptr address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }
inline cudaStream_t stream_of(CUstream stream) { return reinterpret_cast<cudaStream_t>(stream); }

}  // namespace warplens::cuda
