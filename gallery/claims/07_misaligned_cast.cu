// SPDX-License-Identifier: Apache-2.0
// Idea: a float is read through a pointer to an odd short: 2 bytes past a multiple of 4.
// Change: none, an experiment of its own.
// Expected finding: misaligned. On a GPU the launch ends with the error "misaligned address", 716, and so does every
// later call.
// Faulty on purpose.
// Measured on an H200: 716 is the error at size 1.
#include "claims.h"

__global__ void misaligned_cast(const short* in, int first, float* out) {
  *out = *reinterpret_cast<const float*>(in + first);
}

int main(int argc, char** argv) {
  gallery::Run run(argc, argv, "claims/07_misaligned_cast");
  short* in = nullptr;
  float* out = nullptr;
  gallery::must(cudaMalloc(&in, 64), "cudaMalloc");
  gallery::must(cudaMalloc(&out, 64), "cudaMalloc");
  if (gallery::is_counting(argc, argv)) {  // a profiler does not outlive the error: count what is right
    gallery::report_seen(run, "claims/07_misaligned_cast", true, 1, 0, "",
                         [&] { misaligned_cast<<<1, 1>>>(in, 2, out); });
    return run.exit_code();
  }
  misaligned_cast<<<1, 1>>>(in, 1, out);
  const cudaError_t status = cudaDeviceSynchronize();
  run.compare("the error", std::vector<int>{status}, {double(cudaErrorMisalignedAddress)}, 0);
  if (run.measures()) std::printf("claims/07_misaligned_cast,1,0,0,%d,is the error\n", status);
  return run.exit_code();
}
