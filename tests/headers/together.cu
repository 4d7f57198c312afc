// SPDX-License-Identifier: Apache-2.0
// All headers in one source, in an order that none of them was written for.
#include <cuda_fp16.h>
#include <cuda/atomic>
#include <cuda_pipeline.h>
#include <cooperative_groups.h>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <library_types.h>
#include <math_constants.h>
#include <nvToolsExt.h>
#include <sm_30_intrinsics.h>
#include <surface_functions.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

// PTX k: ret
extern "C" __global__ void k(float* p, half h) { p[0] = CUDART_PI_F + (float)h + (float)__nv_bfloat16(2.0f); }
int main() {
  auto shared = std::make_shared<std::vector<int>>(3);
  std::cout << std::accumulate(shared->begin(), shared->end(), 0) << std::abs(std::complex<float>(3, 4)) << "\n";
}
