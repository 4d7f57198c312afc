// SPDX-License-Identifier: Apache-2.0
// Occupancy of a program's kernel: what it was compiled to and allowed, put into the calculation of src/gpu. Launches,
// the occupancy functions of both interfaces and the record of a launch all ask here.
#pragma once
#include "cuda/device.h"
#include "gpu/occupancy.h"
#include "report/launch_occupancy.h"

namespace warplens::cuda {

/// Barriers of the kernel, and its registers: told by the session file, else an estimate.
const machine::ResourceUse& resources_of(Device& device, Function& function);

/// For the record of a launch of `blocks` blocks: with the carve-out that the driver chooses for it, by the kernel's
/// preference if it has one.
report::LaunchOccupancy launch_occupancy(Device& device, Function& function, uint64_t blocks, uint64_t threads,
                                         uint64_t dynamic_shared_bytes);

/// What the occupancy functions answer: they take a kernel's preference as it is, and the driver does not always.
/// `dynamic_shared_bytes` over what the kernel was allowed give 0 blocks, as a launch would fail.
gpu::Occupancy occupancy_of(Device& device, Function& function, uint64_t threads, uint64_t dynamic_shared_bytes);

}  // namespace warplens::cuda
