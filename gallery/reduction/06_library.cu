// SPDX-License-Identifier: Apache-2.0
// Idea: one pass without float atomics: the block that arrives last adds up the sums of all, so the bits are the same
// every time. Change: the kernel of include/warplens/kernels/sum.cuh: four 16-byte loads in flight a thread, as many
// blocks as fit. Expected bottleneck: DRAM.
// Measured on an H200: 67.2 us, 4.00 TB/s at size 67108864.
#include <warplens/kernels/sum.cuh>

#include "reduction.h"

int main(int argc, char** argv) {
  gallery::Buffer<unsigned char> workspace(warplens::kernels::kSumWorkspaceBytes);
  gallery::must(cudaMemset(workspace.get(), 0, warplens::kernels::kSumWorkspaceBytes), "cudaMemset");
  return gallery::run_sum(argc, argv, "reduction/06_library", [&](const gallery::Sum& p) {
    gallery::must(warplens::kernels::sum(p.x, p.n, p.out, workspace.get(), warplens::kernels::kSumWorkspaceBytes),
                  "sum");
  });
}
