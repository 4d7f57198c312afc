// SPDX-License-Identifier: Apache-2.0
// Device code of tables.cu that other sources use.
#pragma once
extern __device__ int table[4];
extern __constant__ int offset;
__device__ int scaled(int x);
