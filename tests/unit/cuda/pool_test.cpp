// SPDX-License-Identifier: Apache-2.0
// Stream-ordered allocation and pools; expected numbers are sums of what was asked for.
#include "registered_kernels.h"

namespace {

using namespace warplens::cuda::test;

class PoolTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
    cudaGetLastError();
    ASSERT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
    ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool_, 0), cudaSuccess);
  }
  void TearDown() override { EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess); }
  unsigned long long get(cudaMemPoolAttr attribute) {
    unsigned long long value = ~0ull;
    EXPECT_EQ(cudaMemPoolGetAttribute(pool_, attribute, &value), cudaSuccess);
    return value;
  }
  cudaStream_t stream_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
};

TEST_F(PoolTest, memory_is_freed_when_the_stream_comes_to_it) {
  int* p = nullptr;
  int n = 32, back = 0;
  unsigned char tag = 5;
  ASSERT_EQ(cudaMallocAsync(reinterpret_cast<void**>(&p), 128, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(p, 0, 128, stream_), cudaSuccess);
  void* list[] = {&p, &tag, &n};
  EXPECT_EQ(cudaLaunchKernel(&twice, 1, 32, list, 0, stream_), cudaSuccess);
  int* host = nullptr;
  ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&host), 4), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(host, p, 4, cudaMemcpyDeviceToHost, stream_), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(p, stream_), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(p, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(*host, 5);
  EXPECT_EQ(cudaMemcpy(&back, p, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeAsync(nullptr, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeAsync(&back, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocAsync(nullptr, 4, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocAsync(reinterpret_cast<void**>(&p), size_t{1} << 50, stream_), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMallocAsync(reinterpret_cast<void**>(&p), 4, reinterpret_cast<cudaStream_t>(&back)),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaMallocAsync(reinterpret_cast<void**>(&p), 4, stream_), cudaSuccess);
  EXPECT_EQ(cudaFree(p), cudaSuccess);  // allowed, and waits
}

TEST_F(PoolTest, accounts_are_kept) {
  void *a = nullptr, *b = nullptr;
  EXPECT_EQ(get(cudaMemPoolAttrUsedMemCurrent), 0u);
  ASSERT_EQ(cudaMallocAsync(&a, 1000, stream_), cudaSuccess);
  ASSERT_EQ(cudaMallocFromPoolAsync(&b, 500, pool_, stream_), cudaSuccess);
  EXPECT_EQ(get(cudaMemPoolAttrUsedMemCurrent), 1500u);
  EXPECT_EQ(get(cudaMemPoolAttrReservedMemCurrent), 1500u);
  unsigned long long threshold = ~0ull, zero = 0, one = 1;
  EXPECT_EQ(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &threshold), cudaSuccess);
  EXPECT_EQ(get(cudaMemPoolAttrReleaseThreshold), threshold);
  EXPECT_EQ(cudaFreeAsync(a, stream_), cudaSuccess);
  EXPECT_EQ(cudaFree(b), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(get(cudaMemPoolAttrUsedMemCurrent), 0u);
  EXPECT_EQ(get(cudaMemPoolAttrUsedMemHigh), 1500u);
  EXPECT_EQ(get(cudaMemPoolAttrReservedMemCurrent), 1500u);  // up to the threshold it is kept
  EXPECT_EQ(cudaMemPoolTrimTo(pool_, 0), cudaSuccess);
  EXPECT_EQ(get(cudaMemPoolAttrReservedMemCurrent), 0u);
  EXPECT_EQ(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrUsedMemHigh, &zero), cudaSuccess);
  EXPECT_EQ(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReservedMemHigh, &zero), cudaSuccess);
  EXPECT_EQ(get(cudaMemPoolAttrReservedMemHigh), 0u);
  EXPECT_EQ(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrUsedMemHigh, &one), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &zero), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, nullptr), cudaErrorInvalidValue);
  int reuse = 0;
  EXPECT_EQ(cudaMemPoolSetAttribute(pool_, cudaMemPoolReuseAllowOpportunistic, &reuse), cudaSuccess);
  reuse = 7;
  EXPECT_EQ(cudaMemPoolGetAttribute(pool_, cudaMemPoolReuseAllowOpportunistic, &reuse), cudaSuccess);
  EXPECT_EQ(reuse, 0);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool_, static_cast<cudaMemPoolAttr>(99), &reuse), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolGetAttribute(nullptr, cudaMemPoolAttrUsedMemHigh, &one), cudaErrorInvalidValue);
}

TEST_F(PoolTest, pools_can_be_made_and_chosen) {
  cudaMemPoolProps properties = {};
  cudaMemPool_t mine = nullptr, got = nullptr;
  EXPECT_EQ(cudaMemPoolCreate(&mine, &properties), cudaErrorInvalidValue);  // no type
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 3};
  EXPECT_EQ(cudaMemPoolCreate(&mine, &properties), cudaErrorInvalidValue);
  properties.location.id = 0;
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  EXPECT_EQ(cudaMemPoolCreate(&mine, &properties), cudaErrorNotSupported);
  properties.handleTypes = cudaMemHandleTypeNone;
  properties.maxSize = 1000;
  ASSERT_EQ(cudaMemPoolCreate(&mine, &properties), cudaSuccess);
  EXPECT_EQ(cudaMemPoolCreate(nullptr, &properties), cudaErrorInvalidValue);
  void* p = nullptr;
  EXPECT_EQ(cudaMallocFromPoolAsync(&p, 2000, mine, stream_), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMallocFromPoolAsync(&p, 2000, nullptr, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocFromPoolAsync(&p, 800, mine, stream_), cudaSuccess);
  EXPECT_EQ(cudaDeviceSetMemPool(0, mine), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetMemPool(&got, 0), cudaSuccess);
  EXPECT_EQ(got, mine);
  void* q = nullptr;
  EXPECT_EQ(cudaMallocAsync(&q, 300, stream_), cudaErrorMemoryAllocation);  // over the pool's limit
  EXPECT_EQ(cudaMallocAsync(&q, 200, stream_), cudaSuccess);
  cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
  EXPECT_EQ(cudaMemPoolSetAccess(mine, &access, 1), cudaSuccess);
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  EXPECT_EQ(cudaMemPoolGetAccess(&flags, mine, &access.location), cudaSuccess);
  EXPECT_EQ(flags, cudaMemAccessFlagsProtReadWrite);
  access.location.id = 1;
  EXPECT_EQ(cudaMemPoolSetAccess(mine, &access, 1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaMemPoolSetAccess(mine, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolGetAccess(&flags, mine, &access.location), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolDestroy(mine), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(mine), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolDestroy(pool_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolTrimTo(mine, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetMemPool(&got, 0), cudaSuccess);
  EXPECT_EQ(got, pool_);
  EXPECT_EQ(cudaDeviceSetMemPool(0, mine), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceSetMemPool(1, pool_), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetMemPool(&got, 1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetDefaultMemPool(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(p), cudaSuccess);  // lives on without its pool
}

}  // namespace
