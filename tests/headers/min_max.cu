// SPDX-License-Identifier: Apache-2.0
// min and max of two types, on both sides, unqualified and with the standard library's in scope.
#include <algorithm>
#include <cmath>
using namespace std;

template <class T>
__host__ __device__ T clamped(T v, T lo, T hi) {
  return max(lo, min(v, hi));
}
__host__ __device__ double mixed(int i, unsigned u, long l, size_t z, float f, double d) {
  return min(i, u) + max(u, i) + min(l, (long)i) + max(z, (size_t)u) + min(f, d) + max(d, f) + min(f, 2.0f) +
         clamped(i, 0, 9) + clamped(f, 0.0f, 1.0f) + std::max(i, 3) + min(1LL, 2LL) + max(1ULL, 2ULL);
}
// PTX k: min.
// PTX-NOT k: call
extern "C" __global__ void k(double* o, int i, unsigned u, long l, size_t z, float f, double d) {
  o[0] = mixed(i, u, l, z, f, d);
}
int main() { return (int)mixed(1, 2, 3, 4, 5.0f, 6.0) + (int)rsqrtf(4.0f) + (int)sinpi(1.0); }
