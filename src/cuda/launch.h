// SPDX-License-Identifier: Apache-2.0
// One launch of a kernel, from the program's call to the end of its work on an engine thread: limits, arguments, queue,
// execution, record, the error that a fault leaves.
#pragma once
#include "cuda/device.h"

namespace warplens::cuda {

struct LaunchCall {
  const void* function = nullptr;  ///< host address that stands for the kernel
  dim3 grid = {1, 1, 1}, block = {1, 1, 1};
  dim3 cluster = {0, 0, 0};  ///< blocks; zeros: the kernel's own (__cluster_dims__), or none
  void** arguments = nullptr;
  size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;  ///< blocks may wait for one another: all must fit on the device at once
};

/// What a launch of this kind would be refused with. Says why, on stderr or in the record. Ends the process as below.
cudaError_t check_launch(Device& device, const LaunchCall& call);
/// Checks the launch and enqueues it (or captures it). Ends the process (exit code 2) when the kernel's code cannot run
/// here.
cudaError_t launch(Device& device, const LaunchCall& call);

/// Blocks of such a launch that the device holds at once (docs/memory-model.md: occupancy).
uint64_t resident_blocks(Device& device, Function& function, uint64_t threads, uint64_t dynamic_shared_bytes);
/// The kernel of a host address, or the error for an address that is none.
cudaError_t find_function(const void* host, Function*& to);
/// Its PTX; ends the process when the program has none for it.
const ptx::Function& ptx_of(Device& device, Function& function);
/// Made ready to run; ends the process when it cannot run.
const exec::LoadedKernel& kernel_of(Device& device, Function& function);

}  // namespace warplens::cuda
