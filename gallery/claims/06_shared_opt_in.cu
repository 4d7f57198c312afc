// SPDX-License-Identifier: Apache-2.0
// Idea: one word of shared memory more than 48 KiB.
// Change: none, an experiment of its own.
// Expected: the launch is refused until cudaFuncSetAttribute has asked for that much; then it runs. The figure: the
// most that a block can ask for.
// Faulty on purpose.
// Measured on an H200: 12.0 us, 227 KiB at most at size 49156.
#include "claims.h"

__global__ void shared_opt_in(int words, int* out) {
  extern __shared__ int s[];
  s[words - 1] = words;
  *out = s[words - 1];
}

int main(int argc, char** argv) {
  gallery::Run run(argc, argv, "claims/06_shared_opt_in");
  const int words = 48 * 256 + 1, bytes = words * 4;
  gallery::Buffer<int> out(1);
  shared_opt_in<<<1, 1, bytes>>>(words, out.get());
  const cudaError_t before = cudaGetLastError();
  gallery::must(cudaFuncSetAttribute(shared_opt_in, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "attribute");
  shared_opt_in<<<1, 1, bytes>>>(words, out.get());
  run.finished("with opt-in");
  run.compare("refused, then run", std::vector<int>{before, out.host()[0]},
              {double(cudaErrorInvalidValue), double(words)}, 0);
  int most = 0;
  gallery::must(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), "attribute");
  gallery::report_seen(run, "claims/06_shared_opt_in", gallery::is_counting(argc, argv), bytes, most / 1024.0,
                       "KiB at most", [&] { shared_opt_in<<<1, 1, bytes>>>(words, out.get()); });
  return run.exit_code();
}
