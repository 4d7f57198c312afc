// SPDX-License-Identifier: Apache-2.0
// Two kernels behind plain functions on host memory, so that tests need no CUDA.
#pragma once
#include <vector>

/// Every element times `factor`; `rows` x `columns`, row by row.
std::vector<float> scaled(const std::vector<float>& matrix, int rows, int columns, float factor);
/// The transpose of a `size` x `size` matrix; `size` is a multiple of 32.
std::vector<float> transposed(const std::vector<float>& matrix, int size);
