// SPDX-License-Identifier: Apache-2.0
// Idea: a table of row pointers, rows[y][x], x the thread: the pointer is one for all lanes, the row is contiguous.
// Change: 01 with one more load in front.
// Expected: 1 sector for the pointer, 4 for the row; the second load waits for the first.
// Measured on an H200: 78.8 us, 1.70 TB/s at size 16777216.
#include "access.h"

__global__ void row_pointers(gallery::Access p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.out[i] = p.rows[i / 1024][i % 1024] + 1.0f;
}

int main(int argc, char** argv) {
  return gallery::run_values(
      argc, argv, "access/15_row_pointers", 1,
      [](const gallery::Access& p) { row_pointers<<<(p.n + 255) / 256, 256>>>(p); },
      [](const float* in, int i, int n) { return in[i] + 1.0f + 0 * n; });
}
