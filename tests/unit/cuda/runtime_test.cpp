// SPDX-License-Identifier: Apache-2.0
// The runtime's functions as a program calls them, with kernels written by hand in PTX and registered as a compiler's
// start-up code does it. Expected errors are those that an H200 gave for the same calls (tests/programs/*.expected).
#include <gtest/gtest.h>

#include <numeric>

#include "registered_kernels.h"
#include "report/run_record.h"

extern "C" {
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, cudaStream_t);
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, size_t*, void*);
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*);
int exported_thread_synchronize() __asm__("cudaThreadSynchronize");  // the header has an inline one
int exported_bind_texture() __asm__("cudaBindTexture");
}

namespace {

using namespace warplens::cuda::test;

class Runtime : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
    cudaGetLastError();
  }
};

TEST_F(Runtime, kernel_doubles_what_was_copied_in) {
  const int n = 1000;
  std::vector<int> host(n), back(n);
  std::iota(host.begin(), host.end(), 0);
  int* p = device_ints(n);
  ASSERT_EQ(cudaMemcpy(p, host.data(), n * 4, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(launch(twice, 8, 128, p, static_cast<unsigned char>(7), n), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(back.data(), p, n * 4, cudaMemcpyDeviceToHost), cudaSuccess);
  for (int i = 0; i < n; ++i) ASSERT_EQ(back[i], 2 * i + 7);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
}

TEST_F(Runtime, call_configuration_is_a_stack_per_thread) {
  dim3 g, b;
  size_t shared = 0;
  cudaStream_t s = nullptr;
  EXPECT_EQ(__cudaPushCallConfiguration(3, 64, 10, nullptr), 0u);
  EXPECT_EQ(__cudaPushCallConfiguration(4, dim3(8, 2), 20, nullptr), 0u);
  EXPECT_EQ(__cudaPopCallConfiguration(&g, &b, &shared, &s), cudaSuccess);
  EXPECT_EQ(g.x * 1000 + b.x * 10 + b.y, 4082u);
  EXPECT_EQ(shared, 20u);
  EXPECT_EQ(__cudaPopCallConfiguration(&g, &b, &shared, &s), cudaSuccess);
  EXPECT_EQ(g.x * 1000 + b.x, 3064u);
  EXPECT_EQ(__cudaPopCallConfiguration(&g, &b, &shared, &s), cudaErrorMissingConfiguration);
}

TEST_F(Runtime, kernel_handle_launches_too) {
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(__cudaGetKernel(&kernel, &twice), cudaSuccess);
  int* p = device_ints(32);
  unsigned char tag = 9;
  int n = 32, back = 0;
  void* list[] = {&p, &tag, &n};
  EXPECT_EQ(cudaLaunchKernel(kernel, 1, 32, list, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&back, p, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back, 9);
  EXPECT_EQ(__cudaGetKernel(&kernel, &missing), cudaErrorInvalidResourceHandle);
}

TEST_F(Runtime, refused_launches_do_not_stick) {
  int* p = device_ints(32);
  EXPECT_EQ(launch(twice, 0, 32, p, 'a', 32), cudaErrorInvalidValue);
  EXPECT_EQ(launch(twice, 1, 1025, p, 'a', 32), cudaErrorInvalidValue);
  EXPECT_EQ(launch(twice, dim3(1, 65536), 1, p, 'a', 32), cudaErrorInvalidValue);
  EXPECT_EQ(launch(missing, 1, 1, p), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaLaunchKernel(nullptr, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(launch(twice, 1, 32, p, 'a', 32), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(Runtime, clusters_that_a_kernel_was_compiled_for_are_checked) {
  int* p = device_ints(4);
  ASSERT_EQ(cudaMemset(p, 0, 16), cudaSuccess);
  EXPECT_EQ(launch(pairs, 3, 32, p), cudaErrorInvalidClusterSize);  // 2 does not divide it: a block would be lost
  EXPECT_EQ(launch(pairs, 4, 32, p), cudaSuccess);
  int got[4] = {};
  EXPECT_EQ(cudaMemcpy(got, p, 16, cudaMemcpyDeviceToHost), cudaSuccess);
  for (const int value : got) EXPECT_EQ(value, 1);

  cudaLaunchAttribute shape = {};
  shape.id = cudaLaunchAttributeClusterDimension;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(4, 1, 1), config.blockDim = dim3(32, 1, 1);
  config.attrs = &shape, config.numAttrs = 1;
  void* arguments[] = {&p};
  for (const unsigned size : {1u, 2u, 4u}) {
    shape.val.clusterDim = {size, 1, 1};
    EXPECT_EQ(cudaLaunchKernelExC(&config, &pairs, arguments), size == 2 ? cudaSuccess : cudaErrorInvalidClusterSize)
        << size;
  }
  cudaFuncAttributes attributes = {};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &pairs), cudaSuccess);
  EXPECT_EQ(attributes.clusterDimMustBeSet, 1);
  EXPECT_EQ(attributes.requiredClusterWidth, 2);
  EXPECT_EQ(attributes.requiredClusterHeight, 1);
  EXPECT_EQ(attributes.requiredClusterDepth, 1);
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &twice), cudaSuccess);
  EXPECT_EQ(attributes.clusterDimMustBeSet, 0);
  EXPECT_EQ(attributes.requiredClusterWidth, 0);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  cudaGetLastError();
  cudaFree(p);
}

TEST_F(Runtime, dynamic_shared_memory_needs_the_opt_in) {
  void* none[] = {nullptr};
  void* p = nullptr;
  none[0] = &p;
  EXPECT_EQ(cudaLaunchKernel(&big_shared, 1, 1, none, 40960, nullptr), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(&big_shared, 1, 1, none, 40961, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(&big_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448 - 8192 + 1),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(&big_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448 - 8192), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);  // taken by a success, as on an H200
  EXPECT_EQ(cudaLaunchKernel(&big_shared, 1, 1, none, 232448 - 8192, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  cudaFuncAttributes attributes;
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &big_shared), cudaSuccess);
  EXPECT_EQ(attributes.sharedSizeBytes, 8192u);
}

struct FaultCase {
  uint64_t address;
  cudaError_t error;
};
class RuntimeFault : public Runtime, public testing::WithParamInterface<FaultCase> {};

TEST_P(RuntimeFault, sticks_until_the_device_is_reset) {
  int* p = device_ints(32);
  const uint64_t at = GetParam().address != 1 ? GetParam().address : reinterpret_cast<uint64_t>(p) + 1;
  const cudaError_t error = GetParam().error;
  EXPECT_EQ(launch(store_at, 1, 1, at), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), error);
  EXPECT_EQ(cudaGetLastError(), error);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  int back = 0, count = 0;
  void* q = nullptr;
  EXPECT_EQ(cudaMemcpy(&back, p, 4, cudaMemcpyDeviceToHost), error);
  EXPECT_EQ(cudaMalloc(&q, 4), error);
  EXPECT_EQ(cudaMallocHost(&q, 4), error);
  EXPECT_EQ(cudaMemset(p, 0, 4), error);
  EXPECT_EQ(cudaFree(p), error);
  EXPECT_EQ(launch(twice, 1, 32, p, 'a', 32), error);
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), error);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  p = device_ints(32);
  EXPECT_EQ(launch(twice, 1, 32, p, static_cast<unsigned char>(3), 32), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&back, p, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back, 3);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RuntimeFault,
                         testing::Values(FaultCase{0, cudaErrorIllegalAddress}, FaultCase{64, cudaErrorIllegalAddress},
                                         FaultCase{uint64_t{1} << 60, cudaErrorIllegalAddress},
                                         FaultCase{1 /* misaligned, see above */, cudaErrorMisalignedAddress}));

TEST_F(Runtime, ordinary_host_memory_is_out_of_reach_of_kernels) {
  static int on_host = 0;
  EXPECT_EQ(launch(store_at, 1, 1, &on_host), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(on_host, 0);
}

TEST_F(Runtime, pinned_and_managed_memory_are_shared_with_kernels) {
  void *pinned = nullptr, *managed = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 128), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&managed, 128, cudaMemAttachGlobal), cudaSuccess);
  static_cast<int*>(pinned)[0] = 20;
  static_cast<int*>(managed)[0] = 30;
  EXPECT_EQ(launch(twice, 1, 32, pinned, static_cast<unsigned char>(1), 32), cudaSuccess);
  EXPECT_EQ(launch(twice, 1, 32, managed, static_cast<unsigned char>(1), 32), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(static_cast<int*>(pinned)[0], 41);
  EXPECT_EQ(static_cast<int*>(managed)[0], 61);
  EXPECT_EQ(cudaFree(pinned), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
}

TEST_F(Runtime, copies_are_checked_against_allocations) {
  int* p = device_ints(4);
  int host[8] = {};
  EXPECT_EQ(cudaMemcpy(p, host, 16, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(p, host, 17, cudaMemcpyHostToDevice), cudaErrorInvalidValue);  // one byte past its end
  EXPECT_EQ(cudaMemcpy(host, p + 1, 16, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, p, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(p, host, 16, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(p, host, 16, static_cast<cudaMemcpyKind>(9)), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(nullptr, host, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(p, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemset(p, 0, 17), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(p + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
  EXPECT_EQ(cudaFree(p), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, p, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);  // freed
}

TEST_F(Runtime, memory_runs_out_with_an_error_that_does_not_stick) {
  void* p = &p;
  EXPECT_EQ(cudaMalloc(&p, size_t{1} << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(p, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&p, 16), cudaSuccess);
  size_t before = 0, after = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
  EXPECT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_GT(after, before);
  EXPECT_EQ(after, total - 0u - (total - after));
}

TEST_F(Runtime, variables_have_their_initial_values_and_can_be_copied) {
  int* p = device_ints(2);
  struct {
    int i;
    float f;
  } back = {};
  EXPECT_EQ(launch(use_counter, 1, 1, p), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&back, p, 8, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back.i, 5);
  EXPECT_EQ(back.f, 3.0f);
  const int i = 42;
  const float f = 0.5f;
  EXPECT_EQ(cudaMemcpyToSymbol(&counter, &i, 4, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(&scale, &f, 4, 4, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(launch(use_counter, 1, 1, p), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&back, p, 8, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back.i, 42);
  EXPECT_EQ(back.f, 0.5f);
  EXPECT_EQ(cudaMemcpyToSymbol(&scale, &f, 8, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&scale, &f, 4, 0, cudaMemcpyDeviceToHost), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyToSymbol(&missing, &f, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);
}

TEST_F(Runtime, reset_gives_variables_their_initial_values_again) {
  int i = 42;
  EXPECT_EQ(cudaMemcpyToSymbol(&counter, &i, 4, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaMemcpyFromSymbol(&i, &counter, 4, 0, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(i, 5);
}

TEST_F(Runtime, work_of_a_stream_is_ordered_and_timed_by_events) {
  cudaStream_t s;
  cudaEvent_t begin, end, never;
  ASSERT_EQ(cudaStreamCreate(&s), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&begin), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&never), cudaSuccess);
  int* p = device_ints(32);
  EXPECT_EQ(cudaMemsetAsync(p, 0, 128, s), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(begin, s), cudaSuccess);
  for (unsigned char t = 1; t <= 3; ++t) {
    unsigned char tag = t;
    int n = 32;
    void* list[] = {&p, &tag, &n};
    EXPECT_EQ(cudaLaunchKernel(&twice, 1, 32, list, 0, s), cudaSuccess);
  }
  EXPECT_EQ(cudaEventRecord(end, s), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(end), cudaSuccess);
  float ms = -1;
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin, end), cudaSuccess);
  EXPECT_GE(ms, 0);
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin, never), cudaErrorInvalidResourceHandle);
  int back = 0;
  EXPECT_EQ(cudaMemcpy(&back, p, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back, (1 * 2 + 2) * 2 + 3);
  EXPECT_EQ(cudaStreamQuery(s), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(s), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(s), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(s), cudaErrorInvalidResourceHandle);
  for (cudaEvent_t e : {begin, end, never}) EXPECT_EQ(cudaEventDestroy(e), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(begin, nullptr), cudaErrorInvalidResourceHandle);
}

TEST_F(Runtime, functions_that_we_lack_say_so_and_fail) {
  EXPECT_EQ(exported_bind_texture(), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
  EXPECT_EQ(exported_thread_synchronize(), cudaSuccess);
}

TEST_F(Runtime, every_error_has_a_name_and_words) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  for (int e = 0; e < 1000; ++e) {
    const std::string name = cudaGetErrorName(static_cast<cudaError_t>(e));
    if (!name.starts_with("cuda")) continue;
    EXPECT_GT(std::string(cudaGetErrorString(static_cast<cudaError_t>(e))).size(), 5u);
  }
}

TEST_F(Runtime, launches_are_recorded_with_their_counts) {
  int* p = device_ints(256);
  EXPECT_EQ(launch(twice, 2, 128, p, 'a', 256), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto record = warplens::report::read_record(record_path());
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->damaged_lines, 0u);
  ASSERT_FALSE(record->launches.empty());
  const auto& last = record->launches.back();
  EXPECT_TRUE(last.complete);
  EXPECT_EQ(record->kernels[last.kernel].info.name, "twice");
  EXPECT_EQ(last.shape.grid.x, 2u);
  EXPECT_EQ(last.shape.block.x, 128u);
  ASSERT_NE(last.counts, nullptr);
  ASSERT_EQ(last.counts->sites.size(), 2u);
  for (const auto& site : last.counts->sites) {  // 8 warps, each 128 bytes in 4 sectors of one line
    EXPECT_EQ(site.requests, 8u);
    EXPECT_EQ(site.lanes, 256u);
    EXPECT_EQ(site.sectors, 32u);
    EXPECT_EQ(site.lines, 8u);
    EXPECT_EQ(site.ideal_sectors, 32u);
  }
}

}  // namespace
