// SPDX-License-Identifier: Apache-2.0
// Kernels and variables that the tests of the runtime share: written by hand in PTX and registered before main, as a
// compiler's start-up code does it. The addresses of the chars below stand for them, as stubs do in programs.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "cuda/runtime_api.h"

namespace warplens::cuda::test {

extern char twice;        ///< (int* p, char tag, int n): p[i] = p[i] * 2 + tag for i < n
extern char store_at;     ///< (int* p): *p = 1
extern char use_counter;  ///< (int* p): p[0] = counter, the float p[1] = scale[1]
extern char big_shared;   ///< (int*): has 8192 bytes of static shared memory
extern char meet;         ///< (int* p): a grid barrier; p[0] = p[1 + block] = number of blocks
extern char pairs;        ///< (int* p): p[block] = 1; compiled for clusters of 2
extern char missing;      ///< was not registered
extern char counter;      ///< int variable, 5
extern char scale;        ///< two floats, 2 and 3

/// The record that launches of this process go to.
std::string record_path();

template <typename... A>
cudaError_t launch(char& kernel, dim3 grid, dim3 block, A... arguments) {
  void* list[] = {&arguments..., nullptr};
  return cudaLaunchKernel(&kernel, grid, block, list, 0, nullptr);
}

inline int* device_ints(int n) {
  void* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, static_cast<size_t>(n) * 4), cudaSuccess);
  return static_cast<int*>(p);
}

}  // namespace warplens::cuda::test
