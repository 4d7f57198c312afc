// SPDX-License-Identifier: Apache-2.0
// A kernel behind a plain function, in a shared library.
__global__ void square(int* p) { p[threadIdx.x] *= p[threadIdx.x]; }
__attribute__((visibility("default"))) void launch_square(int* p) { square<<<1, 4>>>(p); }
