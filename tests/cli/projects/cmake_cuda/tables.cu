// SPDX-License-Identifier: Apache-2.0
// Definitions for other sources; `factor` is also the name of another static variable in main.cu.
#include "tables.cuh"
static __device__ int factor = 2;
__device__ int table[4] = {1, 2, 3, 4};
__constant__ int offset = 100;
__device__ int scaled(int x) { return x * factor; }
