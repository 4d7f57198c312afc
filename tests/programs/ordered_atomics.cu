// SPDX-License-Identifier: Apache-2.0
// The atomic functions that take an order and a scope (__nv_atomic_*). Every thread of the grid takes part in each
// operation; what is left in memory is known in closed form, and so is the sum of the values returned where each
// comes once.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kBlocks = 6, kThreads = 96, kAll = kBlocks * kThreads;

struct Results {
  unsigned sum, left, exchanged, low, high, ors, ands, xors, lock, counter;
  int signed_low;
  unsigned long long sum64, high64, returned;
  long long signed_low64;
  float real;
  double real64;
  short half_word;
  signed char byte;
  unsigned cas_failed, seen;
};

__global__ void all(Results* r) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned long long before = __nv_atomic_fetch_add(&r->sum, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_add(&r->returned, before, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_fetch_sub(&r->left, 2u, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_add(&r->sum64, (unsigned long long)i << 32, __NV_ATOMIC_RELEASE);
  __nv_atomic_add(&r->real, 0.5f, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_sub(&r->real64, 0.25, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
  __nv_atomic_min(&r->low, 1000u - i, __NV_ATOMIC_RELAXED);
  __nv_atomic_max(&r->high, 1000u + i, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_min(&r->signed_low, -(int)i, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_min(&r->signed_low64, -((long long)i << 40), __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_max(&r->high64, (unsigned long long)i << 50, __NV_ATOMIC_RELAXED);
  __nv_atomic_or(&r->ors, 1u << (i % 32), __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_and(&r->ands, ~(1u << (i % 31)), __NV_ATOMIC_RELAXED);
  __nv_atomic_xor(&r->xors, i, __NV_ATOMIC_RELAXED);
}
// One thread of each block holds the lock in turn and adds to a plain counter.
__global__ void locked(Results* r) {
  if (threadIdx.x != 0) return;
  unsigned expected = 0;
  while (!__nv_atomic_compare_exchange_n(&r->lock, &expected, 1u, false, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELAXED,
                                         __NV_THREAD_SCOPE_DEVICE)) {
    __nv_atomic_add(&r->cas_failed, expected != 1, __NV_ATOMIC_RELAXED);
    expected = 0;
  }
  r->counter++;
  __nv_atomic_store_n(&r->lock, 0u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
}
__global__ void words(Results* r) {
  unsigned with = 7, old = 0;
  __nv_atomic_exchange(&r->exchanged, &with, &old, __NV_ATOMIC_ACQ_REL);
  r->seen = old * 100 + __nv_atomic_exchange_n(&r->exchanged, 8u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_store_n(&r->byte, (signed char)-3, __NV_ATOMIC_RELAXED);
  short half_word = __nv_atomic_load_n(&r->half_word, __NV_ATOMIC_ACQUIRE);
  __nv_atomic_compare_exchange_n(&r->half_word, &half_word,
                                 (short)(half_word - 5 + __nv_atomic_load_n(&r->byte, __NV_ATOMIC_SEQ_CST)), true,
                                 __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_ACQUIRE);
  float real = 0, next = 2.5f;
  __nv_atomic_load(&r->real, &real, __NV_ATOMIC_RELAXED);
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
  if (__nv_atomic_compare_exchange(&r->real, &real, &next, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED)) {
    next = real + 1;
    __nv_atomic_store(&r->real, &next, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_THREAD);
  }
}

#define CHECK(what, want) std::printf("%-14s %s\n", #what, r->what == (want) ? "right" : "wrong")
int main() {
  Results* r;
  cudaMallocManaged(&r, sizeof *r);
  *r = Results();
  r->left = 5000, r->low = ~0u, r->ands = ~0u, r->half_word = 100;
  all<<<kBlocks, kThreads>>>(r);
  locked<<<kBlocks, kThreads>>>(r);
  words<<<1, 1>>>(r);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  unsigned xors = 0;
  for (unsigned i = 0; i < kAll; i++) xors ^= i;
  CHECK(sum, kAll);
  CHECK(returned, kAll * (kAll - 1) / 2);
  CHECK(left, 5000 - 2 * kAll);
  CHECK(sum64, (unsigned long long)(kAll * (kAll - 1) / 2) << 32);
  CHECK(real, kAll * 0.5f + 1);
  CHECK(real64, kAll * -0.25);
  CHECK(low, 1000 - (kAll - 1));
  CHECK(high, 1000 + kAll - 1);
  CHECK(signed_low, -(kAll - 1));
  CHECK(signed_low64, -((kAll - 1LL) << 40));
  CHECK(high64, (kAll - 1ull) << 50);
  CHECK(ors, ~0u);
  CHECK(ands, 1u << 31);
  CHECK(xors, xors);
  CHECK(counter, (unsigned)kBlocks);
  CHECK(cas_failed, 0u);
  CHECK(exchanged, 8u);
  CHECK(seen, 7u);
  CHECK(byte, -3);
  CHECK(half_word, 92);
}
