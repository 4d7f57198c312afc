// SPDX-License-Identifier: Apache-2.0
// Host code that the C++ compiler of the project compiles, against our runtime's header.
#include <cuda_runtime.h>
int devices() {
  int n = 0;
  return cudaGetDeviceCount(&n) == cudaSuccess ? n : -1;
}
