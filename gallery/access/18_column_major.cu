// SPDX-License-Identifier: Apache-2.0
// Idea: a matrix stored column by column, read as if it lay row by row: consecutive threads take consecutive columns.
// Change: 1024 columns of n / 1024 elements, index = column * height + row, column = i % 1024.
// Expected: 32 sectors a request from 8 rows on, as 06. With the thread's number as the row, or rows stored, it is 01.
// Measured on an H200: 126.8 us, 1.06 TB/s at size 16777216.
#include "access.h"

__host__ __device__ inline size_t index_of(int i, int n) {
  const int column = i % 1024, row = i / 1024, height = gallery::row_count(n);
  return size_t(column) * height + row;
}

__global__ void column_major(gallery::Access p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.out[i] = p.in[index_of(i, p.n)] + 1.0f;
}

int main(int argc, char** argv) {
  return gallery::run_access(
      argc, argv, "access/18_column_major", 1,
      [](const gallery::Access& p) { column_major<<<(p.n + 255) / 256, 256>>>(p); }, index_of);
}
