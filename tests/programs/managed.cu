// SPDX-License-Identifier: Apache-2.0
// __managed__ variables: initial values, written on both sides.
#include "show.h"

__managed__ int value = 5;
__managed__ float table[4] = {1, 2, 3, 4};

__global__ void change() {
  if (threadIdx.x == 0) value += 10;
  table[threadIdx.x] *= 2;
}

int main() {
  VALUE("initial value", value);
  value = 7;
  change<<<1, 4>>>();
  SHOW(cudaDeviceSynchronize());
  VALUE("7 and an increment of 10", value);
  VALUE("1 doubled", table[0]);
  VALUE("4 doubled", table[3]);
  cudaPointerAttributes at;
  SHOW(cudaPointerGetAttributes(&at, &value));
  return 0;
}
