// SPDX-License-Identifier: Apache-2.0
// Idea: a __syncthreads() to which only the even warps come, in front of one to which all come.
// Change: none, an experiment of its own.
// Expected: undefined. A barrier counts who comes, not where: the even warps at the first and the odd ones at the
// second let each other go, and odd warps read what even warps have not written yet. The figure: words read too early.
// Faulty on purpose.
// Measured on an H200: 39.6 us, 64 words read too early at size 128.
#include "claims.h"

__global__ void barrier_by_warp(int delay, int* out) {
  __shared__ int s[128];
  const int t = threadIdx.x, warp = t / 32;
  s[t] = -1;
  __syncthreads();
  int written = t;
  if (warp % 2 == 0) {
    __syncthreads();  // wrong: odd warps do not come here
    for (int i = 0; i < delay; ++i) written = written * 3 % 1009;
  }
  s[t] = written;
  __syncthreads();
  out[t] = s[(t + 32) % 128];
}

int main(int argc, char** argv) {
  gallery::Run run(argc, argv, "claims/11_barrier_by_warp");
  gallery::Buffer<int> out(128);
  barrier_by_warp<<<1, 128>>>(2000, out.get());
  run.finished("barriers");
  int early = 0;
  for (const int got : out.host()) early += got < 0;
  std::printf("%s", run.measures() ? "" : early != 0 ? "words were read too early\n" : "nothing was read too early\n");
  gallery::report_seen(run, "claims/11_barrier_by_warp", gallery::is_counting(argc, argv), 128, early,
                       "words read too early", [&] { barrier_by_warp<<<1, 128>>>(2000, out.get()); });
  return 0;
}
