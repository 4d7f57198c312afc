// SPDX-License-Identifier: Apache-2.0
// Idea: the coefficients of an affine map, set by the host with cudaMemcpyToSymbol.
// Change: 01 with four numbers at known places, as constant memory is mostly used.
// Expected bottleneck: the arithmetic: a constant at a known place is an operand of the instruction, no load at all.
// Measured on an H200: 63.0 us, 4.26 Tload/s at size 1048576.
#include "hierarchy.h"

__constant__ float coefficients[4];

__global__ void constant_coefficients(gallery::Place p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int r = 0; r < p.rounds; ++r) {
    const float x = gallery::number(i + r), y = gallery::number(i), z = gallery::number(r);
    sum += coefficients[0] * x + coefficients[1] * y + coefficients[2] * z + coefficients[3];
  }
  if (i < p.n) p.out[i] = sum;
}

int main(int argc, char** argv) {
  const float host[4] = {2, -3, 0.5f, 7};
  gallery::must(cudaMemcpyToSymbol(coefficients, host, sizeof(host)), "coefficients");
  return gallery::run_places(
      argc, argv, "hierarchy/07_constant_coefficients",
      [](const gallery::Place& p) { constant_coefficients<<<(p.n + 255) / 256, 256>>>(p); },
      [](int i, int rounds) {
        double sum = 0;
        for (int r = 0; r < rounds; ++r)
          sum += 2.0 * gallery::number(i + r) - 3.0 * gallery::number(i) + 0.5 * gallery::number(r) + 7;
        return sum;
      },
      4);
}
