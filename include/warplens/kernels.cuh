// SPDX-License-Identifier: Apache-2.0
// Kernels at the speed of a GPU's libraries, to be used or read: one header each (and launch.cuh for all), no library
// to link. They are the top rungs of the ladders in gallery/; results/h200 has what an H200 measured, beside what the
// vendor's libraries took in the same run (docs/kernels.md).
//
//   #include <warplens/kernels.cuh>
//   warplens::kernels::sgemm(m, n, k, 1.0f, a, k, b, n, 0.0f, c, n, stream);
//
// All work on device memory, are asynchronous in the stream they are given, and return a cudaError_t; none allocates.
// C++17, nvcc or clang, CUDA 11.8, compute capability 8.0 or higher; attention asks for more shared memory than some of
// those have (its header says which) and refuses elsewhere.
#pragma once
#include "kernels/attention.cuh"
#include "kernels/histogram.cuh"
#include "kernels/sgemm.cuh"
#include "kernels/sum.cuh"
#include "kernels/transpose.cuh"
