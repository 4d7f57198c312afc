// SPDX-License-Identifier: Apache-2.0
// Idea: 16-byte accesses on both sides: squares of 4 x 4 are turned in registers, tiles of 64 x 64 in swizzled shared
// memory. Change: the kernel of include/warplens/kernels/transpose.cuh; blocks that follow each other write
// neighbouring pieces. Expected bottleneck: DRAM, as for a copy.
// Measured on an H200: 135.1 us, 3.97 TB/s at size 8192.
#include <warplens/kernels/transpose.cuh>

#include "transpose.h"

int main(int argc, char** argv) {
  return gallery::run_transpose(argc, argv, "transpose/07_library", [](const gallery::Transpose& p) {
    gallery::must(warplens::kernels::transpose(p.rows, p.cols, p.in, p.cols, p.out, p.rows), "transpose");
  });
}
