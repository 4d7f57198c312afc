// SPDX-License-Identifier: Apache-2.0
// Idea: the same table with the indices the other way round: neighbouring threads read neighbouring rows.
// Change: row = i mod rows, column = i / rows.
// Expected: 8 sectors for 32 pointers, then 32 sectors for 32 rows.
// Measured on an H200: 126.9 us, 1.06 TB/s at size 16777216.
#include "access.h"

__global__ void row_pointers_turned(gallery::Access p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.out[i] = p.rows[i % gallery::row_count(p.n)][i / gallery::row_count(p.n)] + 1.0f;
}

int main(int argc, char** argv) {
  return gallery::run_values(
      argc, argv, "access/16_row_pointers_turned", 1,
      [](const gallery::Access& p) { row_pointers_turned<<<(p.n + 255) / 256, 256>>>(p); },
      [](const float* in, int i, int n) {
        return in[size_t(i % gallery::row_count(n)) * 1024 + i / gallery::row_count(n)] + 1.0f;
      });
}
