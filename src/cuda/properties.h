// SPDX-License-Identifier: Apache-2.0
// cudaDeviceProp in its layouts: CUDA 13's (include/cuda/driver_types.h), CUDA 12's, which still has the fields that 13
// dropped, and what the older entry point of CUDA 12's library fills.
#pragma once
#include "cuda/runtime_api.h"
#include "gpu/gpu.h"

namespace warplens::cuda {

void fill_properties(const gpu::Gpu& gpu, cudaDeviceProp& to);
/// `to` points at CUDA 12's struct, of 1032 bytes.
void fill_properties_12(const gpu::Gpu& gpu, void* to);
/// `to` points at CUDA 11's struct, a prefix of CUDA 12's up to the fields that 12 added.
void fill_properties_11(const gpu::Gpu& gpu, void* to);

}  // namespace warplens::cuda
