// SPDX-License-Identifier: Apache-2.0
// Matrix fragments (nvcuda::wmma) are not here: clang has no type for what a fragment of theirs is, and a program that
// includes this file needs them.
#ifndef WARPLENS_CUDA_MMA_H
#define WARPLENS_CUDA_MMA_H
#error "mma.h (nvcuda::wmma) is not supported by these headers: build this source with nvcc (warplens run --compiler nvcc)"
#endif
