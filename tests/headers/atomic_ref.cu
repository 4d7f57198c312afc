// SPDX-License-Identifier: Apache-2.0
// cuda::atomic and cuda::atomic_ref.
#include <cuda/atomic>

// The address is one in no known space, as in nvcc's code, though it is seen to be global.
// PTX k_ref: atom.add.f32
// PTX-NOT k_ref: atom.global
// PTX k_ref: membar.gl
extern "C" __global__ void k_ref(float* r, const float* a) {
  cuda::atomic_ref<float, cuda::thread_scope_device> ref(*r);
  ref.fetch_add(a[threadIdx.x]);
}
// PTX k_relaxed: atom.add.u64
// PTX k_relaxed: atom.cas.b32
// PTX k_relaxed: atom.max.s32
// PTX-NOT k_relaxed: atom.global
// PTX-NOT k_relaxed: membar
extern "C" __global__ void k_relaxed(unsigned long long* r, long long* s, int* i) {
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> ref(*r);
  ref.fetch_add(1, cuda::memory_order_relaxed);
  cuda::atomic_ref<long long, cuda::thread_scope_device>(*s).fetch_add(-1, cuda::std::memory_order_relaxed);
  int expected = 0;
  cuda::atomic_ref<int, cuda::thread_scope_device> lock(*i);
  lock.compare_exchange_strong(expected, 1, cuda::memory_order_relaxed);
  lock.fetch_max(3, cuda::memory_order_relaxed);
}
// PTX k_shared: atom.add.f32
// PTX k_shared: atom.cta.exch.b32
// PTX k_shared: atom.sys.and.b32
// PTX-NOT k_shared: atom.shared
// PTX-NOT k_shared: atom.global
extern "C" __global__ void k_shared(float* out) {
  __shared__ cuda::atomic<float, cuda::thread_scope_device> sum;
  __shared__ cuda::atomic<int, cuda::thread_scope_thread> own;
  __shared__ cuda::atomic<unsigned> all;
  sum.fetch_add(1.0f, cuda::memory_order_relaxed);
  own.exchange(7, cuda::memory_order_relaxed);
  all.fetch_and(3, cuda::memory_order_relaxed);
  out[0] = sum.load() + own.load() + all.load();
}
// PTX k_extreme: atom.cas.b32
// PTX k_extreme: atom.cta.cas.b64
extern "C" __global__ void k_extreme(float* r, double* d, float v) {
  cuda::atomic_ref<float, cuda::thread_scope_device>(*r).fetch_min(v, cuda::memory_order_relaxed);
  cuda::atomic_ref<double, cuda::thread_scope_block>(*d).fetch_max(v, cuda::memory_order_relaxed);
}
__device__ cuda::atomic<int, cuda::thread_scope_system> flag;
// PTX k_flag: ld.volatile.global.u32
extern "C" __global__ void k_flag(int* p) {
  while (flag.load(cuda::memory_order_acquire) == 0) {
  }
  p[0] = 1;
  flag.store(2, cuda::memory_order_release);
  flag++;
}
int main() {
  int value = 3;
  cuda::atomic_ref<int> ref(value);
  ref += 4;
  cuda::atomic<float> sum(1.0f);
  sum.fetch_add(2.0f);
  return ref.load() + (int)sum.load();
}
