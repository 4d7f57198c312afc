// SPDX-License-Identifier: Apache-2.0
#include "host_matmul.h"

#include <algorithm>
#include <cstddef>

namespace warplens::bench {

void host_matmul_naive(int n, const float* a, const float* b, float* c) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[size_t(i) * n + k] * b[size_t(k) * n + j];
      c[size_t(i) * n + j] = sum;
    }
}

void host_matmul_tiled(int n, const float* a, const float* b, float* c) {
  constexpr int kTile = 32;
  std::fill_n(c, size_t(n) * n, 0.0f);
  for (int i0 = 0; i0 < n; i0 += kTile)
    for (int k0 = 0; k0 < n; k0 += kTile)
      for (int j0 = 0; j0 < n; j0 += kTile)
        for (int i = i0; i < i0 + kTile; ++i) {
          float* to = c + size_t(i) * n + j0;
          float sum[kTile];  // stays in registers
          std::copy_n(to, kTile, sum);
          for (int k = k0; k < k0 + kTile; ++k) {
            const float factor = a[size_t(i) * n + k];
            const float* from = b + size_t(k) * n + j0;
            for (int j = 0; j < kTile; ++j) sum[j] += factor * from[j];
          }
          std::copy_n(sum, kTile, to);
        }
}

}  // namespace warplens::bench
