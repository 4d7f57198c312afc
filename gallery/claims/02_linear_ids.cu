// SPDX-License-Identifier: Apache-2.0
// Idea: which threads form a warp? Those whose x + y Dx + z Dx Dy follow each other, 32 by 32.
// Change: blocks of three dimensions, none a multiple of 32; each thread writes its lane and the number of its warp's
// first thread.
// Expected: lane = number modulo 32, and the first thread's number is a multiple of 32.
// Measured on an H200: 12.8 us, 4 block shapes as expected at size 105.
#include "claims.h"

__global__ void linear_ids(int* out) {
  const int number = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  const int first = __shfl_sync(__activemask(), number, 0);
  out[2 * number] = lane;
  out[2 * number + 1] = first;
}

int main(int argc, char** argv) {
  gallery::Run run(argc, argv, "claims/02_linear_ids");
  int right = 0;
  for (const dim3 block : {dim3(5, 7, 3), dim3(32, 8, 2), dim3(1, 1, 64), dim3(100, 1, 1)}) {
    const int threads = block.x * block.y * block.z;
    gallery::Buffer<int> out(2 * threads);
    linear_ids<<<1, block>>>(out.get());
    const std::string what = std::to_string(block.x) + "x" + std::to_string(block.y) + "x" + std::to_string(block.z);
    run.finished(what);
    std::vector<double> want;
    for (int i = 0; i < threads; ++i) want.push_back(i % 32), want.push_back(i / 32 * 32);
    run.compare(what, out.host(), want, 0);
    right += run.exit_code() == 0;
  }
  gallery::Buffer<int> out(2 * 105);
  gallery::report_seen(run, "claims/02_linear_ids", gallery::is_counting(argc, argv), 105, right,
                       "block shapes as expected", [&] { linear_ids<<<1, dim3(5, 7, 3)>>>(out.get()); });
  return run.exit_code();
}
