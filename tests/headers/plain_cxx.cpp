// SPDX-License-Identifier: Apache-2.0
// A C++ file that is not CUDA and calls the runtime.
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <vector_types.h>

#include <vector>

int run(std::vector<float>& v) {
  float* p;
  cudaMalloc(&p, v.size() * sizeof(float));
  cudaMemcpy(p, v.data(), v.size() * sizeof(float), cudaMemcpyDefault);
  dim3 grid(1, 2);
  cudaFree(p);
  return static_cast<int>(grid.x * grid.y * grid.z);
}
