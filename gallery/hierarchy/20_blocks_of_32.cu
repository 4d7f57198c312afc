// SPDX-License-Identifier: Apache-2.0
// Idea: blocks of one warp: an SM holds 32 blocks, so 32 warps, whatever else is free.
// Change: 32 threads a block instead of 768.
// Expected bottleneck: the latency of L2, with 32 of 64 warps: 50 %.
// Measured on an H200: 1.22 ms, 879 Gload/s at size 1048576.
#include "residents.h"

int main(int argc, char** argv) { return gallery::run_residents(argc, argv, "hierarchy/20_blocks_of_32", 32, 0); }
