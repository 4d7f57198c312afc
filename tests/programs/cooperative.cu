// SPDX-License-Identifier: Apache-2.0
// A cooperative launch through cooperative_groups: a grid barrier with many more blocks than cores, twice, and a launch
// that cannot fit on the device.
#include <cooperative_groups.h>

#include "show.h"

__global__ void reverse_twice(int* p, int* q) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const int i = int(grid.thread_rank()), n = int(grid.size());
  p[i] = i;
  grid.sync();
  q[i] = p[n - 1 - i] * 2;
  grid.sync();
  p[i] = q[n - 1 - i] + (grid.is_valid() ? 1 : 0);
}

int main() {
  const int blocks = 70, threads = 96, n = blocks * threads;
  int *p = nullptr, *q = nullptr;
  std::vector<int> back(n);
  SHOW(cudaMalloc(&p, n * sizeof(int)));
  SHOW(cudaMalloc(&q, n * sizeof(int)));
  void* args[] = {&p, &q};
  void* const kernel = reinterpret_cast<void*>(reverse_twice);
  for (int round = 0; round < 2; ++round) {
    SHOW(cudaLaunchCooperativeKernel(kernel, blocks, threads, args, 0, nullptr));
    SHOW(cudaMemcpy(back.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < n; ++i) bad += back[i] != 2 * i + 1;
    VALUE("wrong elements", bad);
  }
  SHOW(cudaLaunchCooperativeKernel(kernel, 1 << 20, threads, args, 0, nullptr));
  SHOW(cudaGetLastError());
  SHOW(cudaLaunchCooperativeKernel(kernel, blocks, threads, args, 0, nullptr));
  SHOW(cudaDeviceSynchronize());
  return 0;
}
