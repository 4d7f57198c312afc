// SPDX-License-Identifier: Apache-2.0
// Fault: "bank = byte address / 4 / 4 mod 32": divided once too often. By that formula neighbours share a bank four by
// four, so a row would take 4 passes, and rows whose words lie 4 apart (as here) would be without conflict. It is the
// other way round: bank = byte address / 4 mod 32.
// Right: gallery/banks/01_row.cu
// Expected finding: excessive-wavefronts at line 19, exit code 1 with --limit excessive_wavefronts=0
#include "../banks/banks.h"

constexpr int kApart = 4;  // "free of conflicts"; must be 1

__global__ void bank_formula(int rounds, float* out) {
  __shared__ float s[1024];
  const int lane = threadIdx.x;
  for (int i = threadIdx.y * 32 + lane; i < 1024; i += 256) s[i] = static_cast<float>(i);
  __syncthreads();
  float sum = 0;
  for (int round = 0; round < rounds; ++round)
    for (int step = 0; step < 32; ++step)
      sum += (step + 1) * reinterpret_cast<volatile float*>(s)[(step * 32 + lane * kApart) % 1024];
  out[(blockIdx.x * 8 + threadIdx.y) * 32 + lane] = sum;
}

int main(int argc, char** argv) {
  return gallery::run_banks(argc, argv, "faulty/bank_formula", bank_formula,
                            [](int lane, int step) { return (step * 32 + lane * kApart) % 1024; });
}
