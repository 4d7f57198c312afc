// SPDX-License-Identifier: Apache-2.0
// cudaProfilerStart and cudaProfilerStop are declared with the rest of the runtime.
#ifndef WARPLENS_CUDA_PROFILER_API_H
#define WARPLENS_CUDA_PROFILER_API_H
#include "cuda_runtime_api.h"
#endif
