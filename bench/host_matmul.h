// SPDX-License-Identifier: Apache-2.0
// The peers that need no GPU model at all: matrix products in plain C++, as this compiler makes them for this machine.
#pragma once

namespace warplens::bench {

/// C = A B of square row-major matrices, i-j-k as a beginner writes it.
void host_matmul_naive(int n, const float* a, const float* b, float* c);
/// In 32 x 32 tiles, the innermost loop over columns. n is a multiple of 32.
void host_matmul_tiled(int n, const float* a, const float* b, float* c);

}  // namespace warplens::bench
