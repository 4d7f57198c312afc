// SPDX-License-Identifier: Apache-2.0
// Idea: in a cluster of two blocks, one leaves while the other still adds to its shared memory.
// Change: the barrier in front of the end is left out (as in faulty/cluster_without_last_sync), and the second block
// waits a while before it adds. Expected: undefined. The figure: the error that the launch ends with, or, when there is
// none, how many of 32 additions were lost.
// Faulty on purpose.
// Measured on an H200: 719 is the error at size 32.
#include <cooperative_groups.h>

#include "claims.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) early_exit(bool last_sync, int delay, int* out) {
  __shared__ int added;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) added = 0;
  cluster.sync();
  if (cluster.block_rank() == 1) {
    int waited = threadIdx.x;
    for (int i = 0; i < delay; ++i) waited = waited * 3 % 1009;
    atomicAdd(cluster.map_shared_rank(&added, 0), waited < 0 ? 2 : 1);
  }
  if (last_sync) cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) *out = added;
}

int main(int argc, char** argv) {
  gallery::Run run(argc, argv, "claims/13_early_exit");
  const bool counting = gallery::is_counting(argc, argv);
  gallery::Buffer<int> out(1);
  early_exit<<<2, 32>>>(true, 5000, out.get());
  run.finished("with the last barrier");
  run.compare("with the last barrier", out.host(), {32}, 0);
  if (counting) {  // a profiler may not outlive the error: count what is right
    gallery::report_seen(run, "claims/13_early_exit", true, 32, 0, "",
                         [&] { early_exit<<<2, 32>>>(true, 5000, out.get()); });
    return run.exit_code();
  }
  early_exit<<<2, 32>>>(false, 5000, out.get());
  cudaError_t status = cudaDeviceSynchronize();
  int got = 0;
  if (status == cudaSuccess) status = cudaMemcpy(&got, out.get(), sizeof(got), cudaMemcpyDeviceToHost);
  const int seen = status != cudaSuccess ? int(status) : 32 - got;
  const char* const what = status != cudaSuccess ? "is the error" : "of 32 additions lost";
  if (run.measures())
    std::printf("claims/13_early_exit,32,0,0,%d,%s\n", seen, what);
  else
    std::printf("without it: %d %s\n", seen, what);
  return run.exit_code();
}
