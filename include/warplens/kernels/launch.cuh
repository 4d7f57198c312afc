// SPDX-License-Identifier: Apache-2.0
// How the kernels of this folder are launched: so that the status they return is that of their own calls.
//
// After <<<...>>> the only way to the status is cudaGetLastError, which also returns an error that some earlier call
// left there, and takes it away from whoever would have looked for it. A launch by function call says how itself
// fared. An error that a function returns is not left behind for cudaGetLastError as well: it would be found by the
// next one to ask, who made no mistake. (cudaFuncSetAttribute, when it succeeds, forgets earlier errors by itself:
// gallery/kernels/verify.cu, part status, CUDA 13.0 on an H200.)
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace warplens::kernels::launch_detail {

/// `status`; an error is taken back from cudaGetLastError, since the caller has it.
inline cudaError_t taken_back(cudaError_t status) {
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  return status;
}

/// Lets blocks of a kernel have `bytes` of dynamic shared memory.
template <class... Parameters>
cudaError_t allow_shared(void (*kernel)(Parameters...), int bytes) {
  return taken_back(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

/// Launches `blocks` x `threads`, both in x. Errors: those of the launch.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), int64_t blocks, int threads, int64_t shared_bytes,
                   cudaStream_t stream, const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = static_cast<size_t>(shared_bytes);
  config.stream = stream;
  return taken_back(cudaLaunchKernelEx(&config, kernel, arguments...));
}

/// Whether a pointer to 4-byte elements is aligned to them (null is).
inline bool aligned_to_4(const void* p) { return reinterpret_cast<uintptr_t>(p) % 4 == 0; }

}  // namespace warplens::kernels::launch_detail
