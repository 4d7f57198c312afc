// SPDX-License-Identifier: Apache-2.0
// Places: intrinsics belong to the line that calls them, inlined functions keep both their own line and the call's.
// PTX k_call: .loc 1 11 15, function_name
// PTX k_call: inlined_at 1 15 10
// PTX k_call: inlined_at 1 16 10
// PTX k_call: .loc 1 17 3
// PTX-NOT k_call: .loc 3
__device__ __forceinline__ float twice(const float* p,
                                       int i) {
  // the load is on line 11
  return 2 * (p[i] - 1);
}
extern "C" __global__ void k_call(float* o, const float* in) {
  const int i = threadIdx.x;
  o[i] = twice(in, i) +
         twice(in, i + 1000);
  atomicAdd(o + 5, 1.0f);
}
// PTX k_cluster: .reqnctapercluster 2, 1, 1
extern "C" __global__ void __cluster_dims__(2, 1, 1) k_cluster(float* o) { o[threadIdx.x] = 1; }
int main() {}

// Lists in braces work without an include, on both sides, as with nvcc.
__global__ void listed(int* o) {
  for (int n : {1, 2, 3}) *o += n;
}
int listed_on_host() {
  int sum = 0;
  for (int n : {1, 2, 3}) sum += n;
  return sum;
}
