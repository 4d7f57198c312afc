// SPDX-License-Identifier: Apache-2.0
// The driver interface as a host program of a PTX kernel uses it; results by hand, errors as the driver's reference
// documents them.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <ostream>
#include <thread>

#include "cuda.h"
#include "registered_kernels.h"

extern "C" {
CUresult cuGetProcAddress_v2(const char*, void**, int, cuuint64_t, int*);
CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned*, int*);
}

namespace {

using namespace warplens::cuda::test;

constexpr const char* kModule = R"(.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 offset = 7;
// p[i] = p[i] + n + offset
.visible .entry add(.param .u64 p, .param .u32 n)
{
  .reg .b32 %r<6>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [p];
  ld.param.u32 %r0, [n];
  ld.global.u32 %r1, [offset];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %d1, %r2, 4;
  add.s64 %d2, %d0, %d1;
  ld.global.u32 %r3, [%d2];
  add.u32 %r4, %r3, %r0;
  add.u32 %r5, %r4, %r1;
  st.global.u32 [%d2], %r5;
  ret;
}
)";

// Runs first: nothing has started the driver.
TEST(ADriver, refuses_everything_before_it_is_started) {
  int n = 0;
  CUdeviceptr p = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  EXPECT_EQ(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cuMemAlloc(&p, 4), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cuCtxCreate(&context, 0, 0), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cuModuleLoadData(&module, kModule), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc(&p, 4), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuModuleLoadData(&module, kModule), CUDA_ERROR_INVALID_CONTEXT);
}

class Driver : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
    cudaGetLastError();
    ASSERT_EQ(cuCtxCreate(&context_, 0, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleLoadData(&module_, kModule), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&add_, module_, "add"), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&p_, 128), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32(p_, 100, 32), CUDA_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(cuCtxDestroy(context_), CUDA_SUCCESS); }
  int first() {
    int back[32];
    EXPECT_EQ(cuMemcpyDtoH(back, p_, 128), CUDA_SUCCESS);
    for (const int b : back) EXPECT_EQ(b, back[0]);
    return back[0];
  }
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction add_ = nullptr;
  CUdeviceptr p_ = 0;
};

TEST_F(Driver, launches_with_parameters_in_each_form) {
  unsigned n = 5;
  void* params[] = {&p_, &n};
  EXPECT_EQ(cuLaunchKernel(add_, 1, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(first(), 112);
  struct {
    CUdeviceptr p;
    unsigned n;
  } buffer = {p_, 10};
  size_t bytes = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  EXPECT_EQ(cuLaunchKernel(add_, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra), CUDA_SUCCESS);
  EXPECT_EQ(first(), 129);
  bytes = 8;
  EXPECT_EQ(cuLaunchKernel(add_, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra), CUDA_ERROR_INVALID_VALUE);
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 32;
  n = 0;
  EXPECT_EQ(cuLaunchKernelEx(&config, add_, params, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchCooperativeKernel(add_, 1, 1, 1, 32, 1, 1, 0, nullptr, params), CUDA_SUCCESS);
  EXPECT_EQ(first(), 143);
  EXPECT_EQ(cuLaunchKernelEx(nullptr, add_, params, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(nullptr, 1, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLaunchKernel(add_, 0, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(add_, 1, 1, 1, 2000, 1, 1, 0, nullptr, params, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // the runtime remembers nothing of it
}

TEST_F(Driver, modules_have_variables_and_can_be_unloaded) {
  CUdeviceptr offset = 0;
  size_t bytes = 0;
  unsigned value = 0;
  EXPECT_EQ(cuModuleGetGlobal(&offset, &bytes, module_, "offset"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(cuMemcpyDtoH(&value, offset, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 7u);
  EXPECT_EQ(cuModuleGetGlobal(&offset, &bytes, module_, "nothing"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuModuleGetFunction(&add_, module_, "nothing"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuModuleGetFunction(nullptr, module_, "add"), CUDA_ERROR_INVALID_VALUE);
  CUmodule second = nullptr;
  ASSERT_EQ(cuModuleLoadFatBinary(&second, kModule), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(second), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(second), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleGetFunction(&add_, second, "add"), CUDA_ERROR_INVALID_HANDLE);
  const std::string path = testing::TempDir() + "driver_test.ptx";
  std::ofstream(path) << kModule;
  EXPECT_EQ(cuModuleLoad(&second, path.c_str()), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleLoad(&second, "/nowhere.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_EQ(cuModuleLoadData(&second, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleLoadData(&second,
                             "\x7f"
                             "ELF machine code"),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  char log[256] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  EXPECT_EQ(cuModuleLoadDataEx(&second, "strange text", 2, options, values), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::strstr(log, "<module>:1:"), nullptr) << log;
  CUlinkState link;
  EXPECT_EQ(cuLinkCreate(0, nullptr, nullptr, &link), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuLinkAddData_v2(nullptr, CU_JIT_INPUT_PTX, nullptr, 0, "", 0, nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuLinkAddFile_v2(nullptr, CU_JIT_INPUT_PTX, "", 0, nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuLinkComplete(nullptr, nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuLinkDestroy(nullptr), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(Driver, contexts_are_a_stack_of_the_thread) {
  CUcontext primary = nullptr, now = nullptr;
  CUdevice device = 9;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&primary, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuCtxPushCurrent(primary), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&now), CUDA_SUCCESS);
  EXPECT_EQ(now, primary);
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuCtxPopCurrent(&now), CUDA_SUCCESS);
  EXPECT_EQ(now, primary);
  EXPECT_EQ(cuCtxSetCurrent(primary), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(reinterpret_cast<CUcontext>(&now)), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxPushCurrent(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxDestroy(primary), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxGetCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_SPIN), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxSetFlags(0, 0x1000), CUDA_ERROR_INVALID_VALUE);
  unsigned flags = 9;
  int active = 0;
  EXPECT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 1);
  EXPECT_EQ(cuDevicePrimaryCtxReset(1), CUDA_ERROR_INVALID_DEVICE);
  CUresult elsewhere = CUDA_SUCCESS;
  std::thread([&] { elsewhere = cuCtxSynchronize(); }).join();
  EXPECT_EQ(elsewhere, CUDA_ERROR_INVALID_CONTEXT);
  CUcontext other = nullptr;
  EXPECT_EQ(cuCtxCreate(&other, nullptr, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxCreate_v4(&other, nullptr, 0, 3), CUDA_ERROR_INVALID_DEVICE);
  CUctxCreateParams params = {};
  EXPECT_EQ(cuCtxCreate(&other, &params, 0, 0), CUDA_SUCCESS);
  params.numExecAffinityParams = 1;
  EXPECT_EQ(cuCtxCreate(&other, &params, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(other), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
}

TEST_F(Driver, streams_and_events_order_work) {
  CUstream stream = nullptr, urgent = nullptr;
  CUevent begin = nullptr, end = nullptr;
  int host[32] = {}, calls = 0;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreateWithPriority(&urgent, 0, -1), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&begin, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&end, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(begin, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32Async(p_, 0x01010101, 32, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(p_, 2, 64, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(end, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(urgent, end, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoHAsync(host, p_, 128, urgent), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchHostFunc(urgent, [](void* n) { ++*static_cast<int*>(n); }, &calls), CUDA_SUCCESS);
  EXPECT_EQ(
      cuStreamAddCallback(
          urgent, [](CUstream, CUresult state, void* n) { *static_cast<int*>(n) += state == CUDA_SUCCESS; }, &calls, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(urgent), CUDA_SUCCESS);
  EXPECT_EQ(host[0], 0x02020202);
  EXPECT_EQ(host[31], 0x01010101);
  EXPECT_EQ(calls, 2);
  float milliseconds = -1;
  EXPECT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(end), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, begin, end), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cuStreamQuery(urgent), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(urgent), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(urgent), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventDestroy(begin), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(begin), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventQuery(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamCreate(&stream, 9), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Driver, memory_of_all_kinds) {
  CUdeviceptr q = 0, mapped = 0, managed = 0;
  void *pinned = nullptr, *host_alloc = nullptr;
  size_t pitch = 0, free_bytes = 0, total = 0;
  int host[32], own[32] = {3};
  for (int& h : host) h = 41;
  EXPECT_EQ(cuMemAlloc(&q, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(&q, size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_EQ(cuMemAllocPitch(&q, &pitch, 100, 3, 4), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocPitch(&q, &pitch, 100, 3, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_GE(pitch, 100u);
  EXPECT_EQ(cuMemcpyHtoD(p_, host, 128), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoDAsync(p_, host, 128, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoD(q, p_, 128), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoDAsync(p_, q, 128, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpy(p_, q, 128), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyAsync(p_, q, 128, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(first(), 41);
  EXPECT_EQ(cuMemcpyHtoD(p_, host, 129), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8(p_, 1, 128), CUDA_SUCCESS);
  EXPECT_EQ(first(), 0x01010101);
  EXPECT_EQ(cuMemsetD16(p_, 0x0203, 64), CUDA_SUCCESS);
  EXPECT_EQ(first(), 0x02030203);
  EXPECT_EQ(cuMemsetD32(p_ + 2, 1, 1), CUDA_ERROR_INVALID_VALUE);  // misaligned
  EXPECT_EQ(cuMemsetD32(p_, 1, 33), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocHost(&pinned, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostAlloc(&host_alloc, 64, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostGetDevicePointer(&mapped, host_alloc, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemHostRegister(own, sizeof own, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostRegister(own, sizeof own, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(cuMemHostUnregister(own), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostUnregister(own), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  unsigned type = 0;
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p_), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed), CUDA_SUCCESS);
  EXPECT_EQ(type, 1u);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_HOST_POINTER, p_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemGetInfo(&free_bytes, &total), CUDA_SUCCESS);
  EXPECT_LT(free_bytes, total);
  EXPECT_EQ(cuMemFree(q), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(q), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Driver, attributes_of_functions) {
  int value = 0, grid = 0, block = 0;
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add_), CUDA_SUCCESS);
  EXPECT_EQ(value, 1024);
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, add_), CUDA_SUCCESS);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(cuFuncGetAttribute(&value, static_cast<CUfunction_attribute>(99), add_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, add_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuFuncSetAttribute(add_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, add_), CUDA_SUCCESS);
  EXPECT_EQ(value, 100000);
  EXPECT_EQ(cuFuncSetAttribute(add_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, 1), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuFuncSetCacheConfig(add_, CU_FUNC_CACHE_PREFER_L1), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_L1), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, add_, 512, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 4);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, nullptr, 512, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &block, add_, nullptr, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(block, 1024);
  EXPECT_EQ(grid, 264);
  EXPECT_EQ(cuOccupancyMaxPotentialBlockSize(nullptr, &block, add_, nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, add_, nullptr, 0, 256, 0), CUDA_SUCCESS);
  EXPECT_EQ(block, 256);
  EXPECT_EQ(grid, 8 * 132);
}

TEST_F(Driver, occupancy_with_shared_memory_and_clusters) {
  int value = 0;
  size_t bytes = 0;
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&value, add_, 64, 20000, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 11);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&value, nullptr, 64, 0, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, add_, 2, 64), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 233472u / 2 - 1024);
  EXPECT_EQ(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, add_, 0, 64), CUDA_ERROR_INVALID_VALUE);

  CUlaunchAttribute cluster = {};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {16, 1, 1};
  CUlaunchConfig config = {};
  config.gridDimX = 64, config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 1024, config.blockDimY = config.blockDimZ = 1;
  config.attrs = &cluster, config.numAttrs = 1;
  EXPECT_EQ(cuOccupancyMaxPotentialClusterSize(&value, add_, &config), CUDA_SUCCESS);
  EXPECT_EQ(value, 8);
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&value, add_, &config), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(cuFuncSetAttribute(add_, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuOccupancyMaxPotentialClusterSize(&value, add_, &config), CUDA_SUCCESS);
  EXPECT_EQ(value, 16);
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&value, add_, &config), CUDA_SUCCESS);
  EXPECT_EQ(value, 14);  // as an H200 answered
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&value, nullptr, &config), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuOccupancyMaxPotentialClusterSize(&value, add_, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(add_, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 0), CUDA_SUCCESS);

  cudaLaunchAttribute shape = {};
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim = {8, 1, 1};
  cudaLaunchConfig_t runtime = {};
  runtime.gridDim = dim3(64, 1, 1), runtime.blockDim = dim3(1024, 1, 1);
  runtime.attrs = &shape, runtime.numAttrs = 1;
  EXPECT_EQ(cudaOccupancyMaxActiveClusters(&value, add_, &runtime), cudaSuccess);
  EXPECT_EQ(value, 30);
  EXPECT_EQ(cudaOccupancyMaxActiveClusters(nullptr, add_, &runtime), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_F(Driver, questions_about_the_device_and_errors) {
  int n = 0, minor = 0;
  char name[64];
  const char* text = nullptr;
  size_t bytes = 0;
  CUuuid uuid;
  CUdevice device = 9;
  EXPECT_EQ(cuDeviceGetCount(&n), CUDA_SUCCESS);
  EXPECT_EQ(n, 1);
  EXPECT_EQ(cuDeviceGetCount(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetName(name, sizeof name, device), CUDA_SUCCESS);
  EXPECT_STREQ(name, "NVIDIA H200");
  EXPECT_EQ(cuDeviceGetName(nullptr, 3, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetUuid(&uuid, device), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetUuid_v2(nullptr, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceTotalMem(&bytes, device), CUDA_SUCCESS);
  EXPECT_GT(bytes, size_t{1} << 36);
  EXPECT_EQ(cuDeviceTotalMem_v2(&bytes, 2), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device), CUDA_SUCCESS);
  EXPECT_EQ(n, 32);
  EXPECT_EQ(cuDeviceGetAttribute(&n, static_cast<CUdevice_attribute>(9999), device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceComputeCapability(&n, &minor, device), CUDA_SUCCESS);
  EXPECT_EQ(n * 10 + minor, 90);
  EXPECT_EQ(cuDeviceCanAccessPeer(&n, device, 0), CUDA_SUCCESS);
  EXPECT_EQ(n, 0);
  EXPECT_EQ(cuDriverGetVersion(&n), CUDA_SUCCESS);
  EXPECT_EQ(n, 13000);
  EXPECT_EQ(cuDriverGetVersion(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_NOT_FOUND, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_NOT_FOUND");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_GT(std::strlen(text), 10u);
  EXPECT_EQ(cuGetErrorString(CUDA_SUCCESS, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetLimit(&bytes, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 2048u);
  EXPECT_EQ(cuCtxSetLimit(static_cast<CUlimit>(77), 1), CUDA_ERROR_UNSUPPORTED_LIMIT);
  EXPECT_EQ(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxEnablePeerAccess(context_, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  EXPECT_EQ(cuProfilerStart(), CUDA_SUCCESS);
  EXPECT_EQ(cuProfilerStop(), CUDA_SUCCESS);
  void* function = nullptr;
  int status = 9;
  EXPECT_EQ(cuGetProcAddress_v2("cuNothing", &function, 13000, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(cuGetProcAddress_v2(nullptr, &function, 13000, 0, &status), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Driver, a_fault_sticks) {
  CUdeviceptr nowhere = 4096 * 16;
  unsigned n = 1;
  void* params[] = {&nowhere, &n};
  EXPECT_EQ(cuLaunchKernel(add_, 1, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr q = 0;
  CUmodule module = nullptr;
  EXPECT_EQ(cuMemAlloc(&q, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuModuleLoadData(&module, kModule), CUDA_ERROR_ILLEGAL_ADDRESS);
}

}  // namespace
