// SPDX-License-Identifier: Apache-2.0
// Idea: a thread that needs 300 numbers at once.
// Change: none, an experiment of its own.
// Expected: 255 registers, the most that an instruction can name; the rest of the numbers lie in local memory. The
// figure: registers a thread, as the runtime tells.
// Measured on an H200: 15.0 us, 255 registers a thread at size 300.
#include "claims.h"

constexpr int kNumbers = 300;

__global__ void register_limit(const float* in, float* out, int rounds) {
  float v[kNumbers];
#pragma unroll
  for (int k = 0; k < kNumbers; ++k) v[k] = reinterpret_cast<const volatile float*>(in)[k + threadIdx.x];
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    const float first = v[0];
#pragma unroll
    for (int k = 0; k + 1 < kNumbers; ++k) v[k] = v[k + 1];
    v[kNumbers - 1] = first + 1;
  }
#pragma unroll
  for (int k = 0; k < kNumbers; ++k) out[k + threadIdx.x] = v[k];
}

int main(int argc, char** argv) {
  gallery::Run run(argc, argv, "claims/10_register_limit");
  std::vector<float> host(kNumbers);
  for (int k = 0; k < kNumbers; ++k) host[k] = static_cast<float>(k);
  gallery::Buffer<float> in(host), out(kNumbers);
  register_limit<<<1, 1>>>(in.get(), out.get(), 3);
  run.finished("rotated");
  std::vector<double> want;
  for (int k = 0; k < kNumbers; ++k) want.push_back((k + 3) % kNumbers + (k + 3 >= kNumbers));
  run.compare("rotated", out.host(), want, 0);
  cudaFuncAttributes about;
  gallery::must(cudaFuncGetAttributes(&about, register_limit), "attributes");
  gallery::report_seen(run, "claims/10_register_limit", gallery::is_counting(argc, argv), kNumbers, about.numRegs,
                       "registers a thread", [&] { register_limit<<<1, 1>>>(in.get(), out.get(), 3); });
  return run.exit_code();
}
