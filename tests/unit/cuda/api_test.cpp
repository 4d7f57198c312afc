// SPDX-License-Identifier: Apache-2.0
// One row for each function and each error that it documents, as far as a call alone shows it; what functions do to
// data is in the other tests. scripts/check_api_tests holds us to having every exported function in one of them.
#include <dlfcn.h>

#include <cstring>
#include <functional>
#include <future>
#include <ostream>
#include <thread>
#include <vector>

#include "registered_kernels.h"

extern "C" {
cudaError_t cudaGetDeviceProperties_v2(void*, int);
cudaError_t cudaFuncGetParamInfo(const void*, size_t, size_t*, size_t*);
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms*, cudaStream_t);
cudaError_t cudaGetDriverEntryPoint(const char*, void**, unsigned long long, cudaDriverEntryPointQueryResult*);
cudaError_t cudaGetDriverEntryPointByVersion(const char*, void**, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult*);
// The header's are inline.
cudaError_t exported_thread_exit() __asm__("cudaThreadExit");
cudaError_t exported_thread_set_limit(cudaLimit, size_t) __asm__("cudaThreadSetLimit");
cudaError_t exported_thread_get_limit(size_t*, cudaLimit) __asm__("cudaThreadGetLimit");
cudaError_t exported_thread_set_cache_config(cudaFuncCache) __asm__("cudaThreadSetCacheConfig");
cudaError_t exported_thread_get_cache_config(cudaFuncCache*) __asm__("cudaThreadGetCacheConfig");
#define LACKING(name) int lacking_##name(...) __asm__(#name);
#include "cuda/lacking.def"
#undef LACKING
}

namespace {

using namespace warplens::cuda::test;

/// What the rows share; made anew for each.
struct World {
  int* device = nullptr;
  int* managed = nullptr;
  int host[64] = {};
  cudaStream_t stream = nullptr, bad_stream = reinterpret_cast<cudaStream_t>(host);
  cudaEvent_t event = nullptr;
  int i = -1;
  unsigned u = 99;
  unsigned long long id = 0;
  size_t bytes = 0;
  char text[64] = {};
  const char* name = nullptr;
  cudaDeviceProp properties;
  cudaFuncCache cache = cudaFuncCachePreferL1;
  cudaSharedMemConfig banks = cudaSharedMemBankSizeEightByte;
  cudaKernel_t kernel = nullptr;
  cudaFunction_t function = nullptr;
  cudaLaunchConfig_t config = {};
  cudaLaunchAttributeValue attribute = {};
  cudaMemcpy3DPeerParms peers = {};
  cudaDriverEntryPointQueryResult entry = cudaDriverEntryPointSuccess;
  void* pointer = nullptr;
};

struct Row {
  const char* name;
  std::function<cudaError_t(World&)> call;
  cudaError_t error = cudaSuccess;
  std::function<bool(const World&)> then = [](const World&) { return true; };
};
std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.name; }

class Api : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
    cudaGetLastError();
    world_.device = device_ints(64);
    ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&world_.managed), 256, cudaMemAttachGlobal), cudaSuccess);
    ASSERT_EQ(cudaStreamCreate(&world_.stream), cudaSuccess);
    ASSERT_EQ(cudaEventCreate(&world_.event), cudaSuccess);
  }
  World world_;
};

TEST_P(Api, answers) {
  const Row& row = GetParam();
  EXPECT_EQ(row.call(world_), row.error);
  EXPECT_TRUE(row.then(world_));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

#define ROW(error, call, ...)                                                                            \
  Row {                                                                                                  \
    #call, [](World& w) { return call; }, error __VA_OPT__(, [](const World& w) { return __VA_ARGS__; }) \
  }
// Rows that do not look at the world.
#define CALL(error, call)                     \
  Row {                                       \
    #call, [](World&) { return call; }, error \
  }

std::vector<Row> device_rows() {
  return {
      CALL(cudaSuccess, cudaInitDevice(0, 0, 0)),
      CALL(cudaErrorInvalidDevice, cudaInitDevice(1, 0, 0)),
      ROW(cudaSuccess, (w.i = 0, cudaSetValidDevices(&w.i, 1))),
      ROW(cudaErrorInvalidDevice, (w.i = 4, cudaSetValidDevices(&w.i, 1))),
      CALL(cudaErrorInvalidDevice, cudaSetValidDevices(nullptr, 1)),
      ROW(cudaSuccess, cudaChooseDevice(&w.i, &w.properties), w.i == 0),
      ROW(cudaErrorInvalidValue, cudaChooseDevice(&w.i, nullptr)),
      ROW(cudaErrorInvalidValue, cudaChooseDevice(nullptr, &w.properties)),
      CALL(cudaSuccess, cudaSetDeviceFlags(cudaDeviceScheduleAuto)),
      CALL(cudaErrorInvalidValue, cudaSetDeviceFlags(0x4000)),
      ROW(cudaSuccess, (cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), cudaGetDeviceFlags(&w.u)),
          w.u == cudaDeviceScheduleBlockingSync),
      CALL(cudaErrorInvalidValue, cudaGetDeviceFlags(nullptr)),
      ROW(cudaSuccess, cudaGetDeviceProperties_v2(&w.properties, 0), std::strlen(w.properties.name) > 3),
      ROW(cudaErrorInvalidDevice, cudaGetDeviceProperties_v2(&w.properties, 1)),
      CALL(cudaErrorInvalidValue, cudaGetDeviceProperties_v2(nullptr, 0)),
      ROW(cudaSuccess, (cudaDeviceSetLimit(cudaLimitStackSize, 4096), cudaDeviceGetLimit(&w.bytes, cudaLimitStackSize)),
          w.bytes == 4096),
      CALL(cudaErrorUnsupportedLimit, cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1)),
      ROW(cudaErrorUnsupportedLimit, cudaDeviceGetLimit(&w.bytes, static_cast<cudaLimit>(99))),
      CALL(cudaErrorInvalidValue, cudaDeviceGetLimit(nullptr, cudaLimitStackSize)),
      ROW(cudaSuccess, cudaDeviceGetCacheConfig(&w.cache), w.cache == cudaFuncCachePreferNone),
      CALL(cudaErrorInvalidValue, cudaDeviceGetCacheConfig(nullptr)),
      CALL(cudaSuccess, cudaDeviceSetCacheConfig(cudaFuncCachePreferL1)),
      CALL(cudaErrorInvalidValue, cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(9))),
      ROW(cudaSuccess, cudaDeviceGetSharedMemConfig(&w.banks), w.banks == cudaSharedMemBankSizeFourByte),
      CALL(cudaErrorInvalidValue, cudaDeviceGetSharedMemConfig(nullptr)),
      CALL(cudaSuccess, cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeFourByte)),
      CALL(cudaErrorInvalidValue, cudaDeviceSetSharedMemConfig(static_cast<cudaSharedMemConfig>(9))),
      ROW(cudaSuccess, cudaDeviceGetStreamPriorityRange(nullptr, &w.i), w.i == -5),
      ROW(cudaSuccess, cudaDeviceCanAccessPeer(&w.i, 0, 0), w.i == 0),
      ROW(cudaErrorInvalidDevice, cudaDeviceCanAccessPeer(&w.i, 0, 1)),
      CALL(cudaErrorInvalidValue, cudaDeviceCanAccessPeer(nullptr, 0, 0)),
      CALL(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(1, 0)),
      CALL(cudaErrorInvalidDevice, cudaDeviceDisablePeerAccess(1)),
      ROW(cudaSuccess, cudaDeviceGetPCIBusId(w.text, 64, 0), std::strlen(w.text) == 12),
      ROW(cudaErrorInvalidValue, cudaDeviceGetPCIBusId(w.text, 5, 0)),
      ROW(cudaErrorInvalidDevice, cudaDeviceGetPCIBusId(w.text, 64, 3)),
      ROW(cudaSuccess, (cudaDeviceGetPCIBusId(w.text, 64, 0), cudaDeviceGetByPCIBusId(&w.i, w.text)), w.i == 0),
      ROW(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&w.i, "nonsense")),
      ROW(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&w.i, nullptr)),
      ROW(cudaErrorInvalidDevice, cudaDeviceGetP2PAttribute(&w.i, cudaDevP2PAttrAccessSupported, 0, 1)),
      ROW(cudaErrorInvalidDevice, cudaDeviceGetP2PAttribute(&w.i, cudaDevP2PAttrAccessSupported, 0, 0)),
      CALL(cudaSuccess, cudaCtxResetPersistingL2Cache()),
      CALL(cudaSuccess, cudaProfilerStart()),
      CALL(cudaSuccess, cudaProfilerStop()),
      CALL(cudaSuccess, exported_thread_exit()),  // "cudaThreadExit"
      ROW(cudaSuccess,
          (exported_thread_set_limit(cudaLimitStackSize, 512),        // "cudaThreadSetLimit"
           exported_thread_get_limit(&w.bytes, cudaLimitStackSize)),  // "cudaThreadGetLimit"
          w.bytes == 512),
      CALL(cudaErrorUnsupportedLimit, exported_thread_set_limit(static_cast<cudaLimit>(99), 1)),
      ROW(cudaSuccess, exported_thread_get_cache_config(&w.cache)),  // "cudaThreadGetCacheConfig"
      CALL(cudaErrorInvalidValue,
           exported_thread_set_cache_config(static_cast<cudaFuncCache>(9))),  // "cudaThreadSetCacheConfig"
  };
}

std::vector<Row> stream_rows() {
  return {
      ROW(cudaSuccess,
          (cudaStreamCreateWithPriority(&w.stream, cudaStreamNonBlocking, -9), cudaStreamGetPriority(w.stream, &w.i)),
          w.i == -5),  // clamped
      ROW(cudaErrorInvalidValue, cudaStreamCreateWithPriority(&w.stream, 7, 0)),
      CALL(cudaErrorInvalidValue, cudaStreamCreateWithPriority(nullptr, 0, 0)),
      ROW(cudaErrorInvalidResourceHandle, cudaStreamGetPriority(w.bad_stream, &w.i)),
      ROW(cudaErrorInvalidValue, cudaStreamGetPriority(w.stream, nullptr)),
      ROW(cudaSuccess, cudaStreamGetFlags(w.stream, &w.u), w.u == cudaStreamDefault),
      ROW(cudaErrorInvalidValue, cudaStreamGetFlags(w.stream, nullptr)),
      ROW(cudaErrorInvalidResourceHandle, cudaStreamGetFlags(w.bad_stream, &w.u)),
      ROW(cudaSuccess, cudaStreamGetId(w.stream, &w.id), w.id != 0),
      ROW(cudaErrorInvalidValue, cudaStreamGetId(w.stream, nullptr)),
      ROW(cudaSuccess, cudaStreamGetDevice(w.stream, &w.i), w.i == 0),
      ROW(cudaErrorInvalidValue, cudaStreamGetDevice(w.stream, nullptr)),
      ROW(cudaErrorInvalidResourceHandle, cudaStreamGetDevice(w.bad_stream, &w.i)),
      ROW(cudaSuccess, cudaStreamAttachMemAsync(w.stream, w.managed, 0, cudaMemAttachSingle)),
      ROW(cudaErrorInvalidValue, cudaStreamAttachMemAsync(w.stream, w.device, 0, cudaMemAttachSingle)),
      ROW(cudaErrorInvalidResourceHandle, cudaStreamAttachMemAsync(w.bad_stream, w.managed, 0, cudaMemAttachSingle)),
      ROW(cudaSuccess,
          (w.attribute.priority = -3, cudaStreamSetAttribute(w.stream, cudaStreamAttributePriority, &w.attribute),
           w.attribute.priority = 0, cudaStreamGetAttribute(w.stream, cudaStreamAttributePriority, &w.attribute)),
          w.attribute.priority == -3),
      ROW(cudaErrorInvalidValue, cudaStreamSetAttribute(w.stream, cudaStreamAttributePriority, nullptr)),
      ROW(cudaErrorInvalidValue, cudaStreamSetAttribute(w.stream, cudaLaunchAttributeCooperative, &w.attribute)),
      ROW(cudaErrorInvalidResourceHandle,
          cudaStreamSetAttribute(w.bad_stream, cudaStreamAttributePriority, &w.attribute)),
      ROW(cudaErrorInvalidValue, cudaStreamGetAttribute(w.stream, cudaStreamAttributePriority, nullptr)),
      ROW(cudaSuccess,
          (w.attribute.priority = -2, cudaStreamSetAttribute(w.stream, cudaStreamAttributePriority, &w.attribute),
           cudaStreamCopyAttributes(nullptr, w.stream),
           cudaStreamGetAttribute(nullptr, cudaStreamAttributePriority, &w.attribute)),
          w.attribute.priority == -2),
      ROW(cudaErrorInvalidResourceHandle, cudaStreamCopyAttributes(w.bad_stream, w.stream)),
      ROW(cudaErrorInvalidValue, cudaStreamAddCallback(w.stream, nullptr, nullptr, 0)),
      ROW(cudaErrorInvalidValue, cudaStreamAddCallback(
                                     w.stream, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 1)),
      ROW(cudaErrorInvalidResourceHandle, cudaStreamAddCallback(
                                              w.bad_stream, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0)),
      ROW(cudaErrorInvalidValue, cudaLaunchHostFunc(w.stream, nullptr, nullptr)),
      ROW(cudaErrorInvalidResourceHandle, cudaLaunchHostFunc(
                                              w.bad_stream, [](void*) {}, nullptr)),
      ROW(cudaErrorInvalidResourceHandle, cudaStreamIsCapturing(w.bad_stream, nullptr)),
      ROW(cudaErrorInvalidValue, cudaStreamIsCapturing(w.stream, nullptr)),
      ROW(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(w.stream, nullptr, 0)),
      ROW(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(w.bad_stream, w.event, 0)),
      ROW(cudaErrorInvalidResourceHandle, cudaStreamQuery(w.bad_stream)),
      ROW(cudaErrorInvalidResourceHandle, cudaStreamDestroy(w.bad_stream)),
      ROW(cudaSuccess, cudaEventRecordWithFlags(w.event, w.stream, cudaEventRecordDefault)),
      ROW(cudaErrorInvalidValue, cudaEventRecordWithFlags(w.event, w.stream, 8)),
      ROW(cudaErrorInvalidResourceHandle, cudaEventRecordWithFlags(w.event, w.bad_stream, 0)),
      ROW(cudaErrorInvalidValue, cudaEventCreateWithFlags(&w.event, 0x40)),
      ROW(cudaErrorInvalidValue, cudaEventCreateWithFlags(&w.event, cudaEventInterprocess)),
      CALL(cudaErrorInvalidResourceHandle, cudaEventDestroy(nullptr)),
      CALL(cudaErrorInvalidResourceHandle, cudaEventQuery(nullptr)),
  };
}

std::vector<Row> memory_rows() {
  return {
      ROW(cudaSuccess, cudaMemcpyPeer(w.device, 0, w.managed, 0, 64)),
      ROW(cudaErrorInvalidDevice, cudaMemcpyPeer(w.device, 1, w.managed, 0, 64)),
      ROW(cudaErrorInvalidValue, cudaMemcpyPeer(w.device, 0, w.host, 0, 64)),
      ROW(cudaSuccess, cudaMemcpyPeerAsync(w.device, 0, w.managed, 0, 64, w.stream)),
      ROW(cudaErrorInvalidDevice, cudaMemcpyPeerAsync(w.device, 0, w.managed, 2, 64, w.stream)),
      ROW(cudaErrorInvalidResourceHandle, cudaMemcpyPeerAsync(w.device, 0, w.managed, 0, 64, w.bad_stream)),
      ROW(cudaSuccess, (w.peers.srcPtr = {w.managed, 16, 16, 4}, w.peers.dstPtr = {w.device, 16, 16, 4},
                        w.peers.extent = {8, 4, 1}, cudaMemcpy3DPeer(&w.peers))),
      ROW(cudaErrorInvalidDevice, (w.peers.dstDevice = 1, cudaMemcpy3DPeer(&w.peers))),
      CALL(cudaErrorInvalidValue, cudaMemcpy3DPeer(nullptr)),
      ROW(cudaErrorInvalidDevice, (w.peers.srcDevice = 1, cudaMemcpy3DPeerAsync(&w.peers, w.stream))),
      ROW(cudaErrorInvalidValue, cudaMemcpy3DPeerAsync(&w.peers, w.stream)),  // no memory
      ROW(cudaErrorInvalidResourceHandle, cudaMemcpyAsync(w.device, w.host, 4, cudaMemcpyHostToDevice, w.bad_stream)),
      ROW(cudaErrorInvalidResourceHandle, cudaMemsetAsync(w.device, 0, 4, w.bad_stream)),
      ROW(cudaSuccess, cudaMemcpy2DAsync(w.device, 16, w.host, 8, 8, 4, cudaMemcpyHostToDevice, w.stream)),
      ROW(cudaErrorInvalidPitchValue,
          cudaMemcpy2DAsync(w.device, 4, w.host, 8, 8, 4, cudaMemcpyHostToDevice, w.stream)),
      ROW(cudaErrorInvalidValue,
          cudaMemcpy2DAsync(w.device, 128, w.host, 8, 8, 4, cudaMemcpyHostToDevice, w.stream)),  // 3 * 128 + 8 > 256
      ROW(cudaErrorInvalidResourceHandle,
          cudaMemcpy2DAsync(w.device, 16, w.host, 8, 8, 4, cudaMemcpyHostToDevice, w.bad_stream)),
      ROW(cudaSuccess, cudaMemset2DAsync(w.device, 16, 1, 8, 4, w.stream)),
      ROW(cudaErrorInvalidPitchValue, cudaMemset2DAsync(w.device, 4, 1, 8, 4, w.stream)),
      ROW(cudaErrorInvalidValue, cudaMemset2DAsync(w.host, 16, 1, 8, 4, w.stream)),
      ROW(cudaErrorInvalidResourceHandle, cudaMemset2DAsync(w.device, 16, 1, 8, 4, w.bad_stream)),
      ROW(cudaSuccess, cudaMemcpyToSymbolAsync(&scale, w.host, 8, 0, cudaMemcpyHostToDevice, w.stream)),
      ROW(cudaErrorInvalidSymbol, cudaMemcpyToSymbolAsync(&missing, w.host, 8, 0, cudaMemcpyHostToDevice, w.stream)),
      ROW(cudaErrorInvalidMemcpyDirection,
          cudaMemcpyToSymbolAsync(&scale, w.host, 8, 0, cudaMemcpyDeviceToHost, w.stream)),
      ROW(cudaErrorInvalidResourceHandle,
          cudaMemcpyToSymbolAsync(&scale, w.host, 8, 0, cudaMemcpyHostToDevice, w.bad_stream)),
      ROW(cudaSuccess, cudaMemcpyFromSymbolAsync(w.host, &counter, 4, 0, cudaMemcpyDeviceToHost, w.stream),
          w.host[0] == 5),  // to pageable memory: done when it returns
      ROW(cudaErrorInvalidValue, cudaMemcpyFromSymbolAsync(w.host, &counter, 8, 0, cudaMemcpyDeviceToHost, w.stream)),
      ROW(cudaErrorInvalidSymbol, cudaMemcpyFromSymbolAsync(w.host, &missing, 4, 0, cudaMemcpyDeviceToHost, w.stream)),
      ROW(cudaErrorInvalidMemcpyDirection,
          cudaMemcpyFromSymbolAsync(w.host, &counter, 4, 0, cudaMemcpyHostToDevice, w.stream)),
      ROW(cudaErrorInvalidSymbol, cudaGetSymbolSize(&w.bytes, &missing)),
      CALL(cudaErrorInvalidValue, cudaGetSymbolSize(nullptr, &counter)),
      CALL(cudaErrorInvalidValue, cudaGetSymbolAddress(nullptr, &counter)),
      ROW(cudaSuccess, cudaMemPrefetchAsync(w.managed, 256, {cudaMemLocationTypeDevice, 0}, 0, w.stream)),
      ROW(cudaErrorInvalidValue, cudaMemPrefetchAsync(w.managed, 257, {cudaMemLocationTypeDevice, 0}, 0, w.stream)),
      ROW(cudaErrorInvalidValue, cudaMemPrefetchAsync(w.device, 256, {cudaMemLocationTypeDevice, 0}, 0, w.stream)),
      ROW(cudaSuccess, cudaMemAdvise(w.managed, 256, cudaMemAdviseSetReadMostly, {cudaMemLocationTypeDevice, 0})),
      ROW(cudaErrorInvalidValue,
          cudaMemAdvise(w.host, 256, cudaMemAdviseSetReadMostly, {cudaMemLocationTypeDevice, 0})),
      CALL(cudaErrorInvalidValue, cudaMallocPitch(nullptr, nullptr, 4, 4)),
      CALL(cudaErrorInvalidValue, cudaMallocManaged(nullptr, 4, cudaMemAttachGlobal)),
      ROW(cudaErrorInvalidValue, cudaMallocManaged(reinterpret_cast<void**>(&w.managed), 4, 9)),
      ROW(cudaErrorInvalidValue, cudaMallocManaged(reinterpret_cast<void**>(&w.managed), 0, cudaMemAttachGlobal)),
      ROW(cudaErrorInvalidValue, cudaHostAlloc(reinterpret_cast<void**>(&w.managed), 4, 0x80)),
      ROW(cudaErrorInvalidValue, cudaHostGetDevicePointer(reinterpret_cast<void**>(&w.managed), w.host, 0)),
      ROW(cudaErrorInvalidValue, cudaHostGetDevicePointer(nullptr, w.managed, 0)),
      ROW(cudaErrorInvalidValue, cudaMemGetInfo(nullptr, &w.bytes)),
      ROW(cudaErrorInvalidValue, cudaPointerGetAttributes(nullptr, w.device)),
      Row{"cudaCreateChannelDesc",
          [](World&) {
            const auto d = cudaCreateChannelDesc(32, 8, 0, 0, cudaChannelFormatKindFloat);
            return d.x == 32 && d.y == 8 && d.f == cudaChannelFormatKindFloat ? cudaSuccess : cudaErrorUnknown;
          }},
  };
}

std::vector<Row> kernel_rows() {
  return {
      ROW(cudaSuccess, cudaGetKernel(&w.kernel, &twice), w.kernel != nullptr),
      ROW(cudaErrorInvalidResourceHandle, cudaGetKernel(&w.kernel, &missing)),
      CALL(cudaErrorInvalidValue, cudaGetKernel(nullptr, &twice)),
      ROW(cudaSuccess, cudaGetFuncBySymbol(&w.function, &twice), w.function != nullptr),
      ROW(cudaErrorInvalidDeviceFunction, cudaGetFuncBySymbol(&w.function, nullptr)),
      CALL(cudaErrorInvalidValue, cudaGetFuncBySymbol(nullptr, &twice)),
      ROW(cudaSuccess, cudaFuncGetName(&w.name, &twice), std::strcmp(w.name, "twice") == 0),
      ROW(cudaErrorInvalidResourceHandle, cudaFuncGetName(&w.name, &missing)),
      CALL(cudaErrorInvalidValue, cudaFuncGetName(nullptr, &twice)),
      CALL(cudaErrorInvalidValue, cudaFuncGetAttributes(nullptr, &twice)),
      ROW(cudaSuccess, cudaFuncGetParamInfo(&twice, 2, &w.bytes, nullptr), w.bytes == 12),  // u64, u8, u32
      ROW(cudaErrorInvalidValue, cudaFuncGetParamInfo(&twice, 3, &w.bytes, nullptr)),
      CALL(cudaErrorInvalidValue, cudaFuncGetParamInfo(&twice, 0, nullptr, nullptr)),
      ROW(cudaErrorInvalidResourceHandle, cudaFuncGetParamInfo(&missing, 0, &w.bytes, nullptr)),
      ROW(cudaSuccess, cudaGetDriverEntryPoint("cuNothing", &w.pointer, 0, &w.entry),
          w.entry == cudaDriverEntryPointSymbolNotFound && w.pointer == nullptr),
      ROW(cudaErrorSymbolNotFound, cudaGetDriverEntryPointByVersion("cuNothing", &w.pointer, 12000, 0, nullptr)),
      ROW(cudaErrorInvalidValue, cudaGetDriverEntryPoint(nullptr, &w.pointer, 0, &w.entry)),
      CALL(cudaSuccess, cudaFuncSetSharedMemConfig(&twice, cudaSharedMemBankSizeFourByte)),
      CALL(cudaErrorInvalidResourceHandle, cudaFuncSetSharedMemConfig(&missing, cudaSharedMemBankSizeFourByte)),
      CALL(cudaErrorInvalidValue, cudaFuncSetCacheConfig(&twice, static_cast<cudaFuncCache>(9))),
      // 2048 threads an SM; 8192 + 1024 bytes a block of 233472.
      ROW(cudaSuccess, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&w.i, &twice, 256, 0, 0), w.i == 8),
      ROW(cudaSuccess, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&w.i, &big_shared, 32, 0, 0), w.i == 25),
      ROW(cudaErrorInvalidValue, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&w.i, &twice, 0, 0, 0)),
      ROW(cudaErrorInvalidResourceHandle,
          cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&w.i, &missing, 32, 0, 0)),
      // 233472 / 2 bytes a block, less the reserved 1024 and the static 8192.
      ROW(cudaSuccess, cudaOccupancyAvailableDynamicSMemPerBlock(&w.bytes, &big_shared, 2, 32),
          w.bytes == 233472 / 2 - 1024 - 8192),
      ROW(cudaErrorInvalidValue, cudaOccupancyAvailableDynamicSMemPerBlock(&w.bytes, &big_shared, 0, 32)),
      ROW(cudaErrorInvalidResourceHandle, cudaOccupancyAvailableDynamicSMemPerBlock(&w.bytes, &missing, 1, 32)),
      ROW(cudaSuccess, cudaOccupancyMaxPotentialClusterSize(&w.i, &twice, &w.config), w.i == 8),
      ROW(cudaErrorInvalidValue, cudaOccupancyMaxPotentialClusterSize(&w.i, &twice, nullptr)),
  };
}

INSTANTIATE_TEST_SUITE_P(Device, Api, testing::ValuesIn(device_rows()));
INSTANTIATE_TEST_SUITE_P(Streams, Api, testing::ValuesIn(stream_rows()));
INSTANTIATE_TEST_SUITE_P(Memory, Api, testing::ValuesIn(memory_rows()));
INSTANTIATE_TEST_SUITE_P(Kernels, Api, testing::ValuesIn(kernel_rows()));

TEST(ApiOfStreams, a_callback_runs_in_its_turn_with_the_state_of_the_device) {
  struct Seen {
    cudaError_t status = cudaErrorUnknown;
    cudaStream_t stream = nullptr;
    int value = 0;
    int* host = nullptr;
  } seen;
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&seen.host), 4), cudaSuccess);
  int* p = device_ints(1);
  EXPECT_EQ(cudaMemsetAsync(p, 1, 4, stream), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(seen.host, p, 4, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  const auto callback = [](cudaStream_t s, cudaError_t status, void* data) {
    auto& to = *static_cast<Seen*>(data);
    to.status = status, to.stream = s, to.value = *to.host;
  };
  EXPECT_EQ(cudaStreamAddCallback(stream, callback, &seen, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(seen.status, cudaSuccess);
  EXPECT_EQ(seen.stream, stream);
  EXPECT_EQ(seen.value, 0x01010101);
}

TEST(ApiOfStreams, each_thread_has_a_default_stream_of_its_own) {
  std::promise<void> gate;
  std::shared_future<void> opened = gate.get_future().share();
  std::promise<void> enqueued, finished;
  std::thread other([&] {
    EXPECT_EQ(cudaLaunchHostFunc(
                  cudaStreamPerThread, [](void* g) { static_cast<std::shared_future<void>*>(g)->wait(); }, &opened),
              cudaSuccess);
    EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
    enqueued.set_value();
    finished.get_future().wait();
    EXPECT_EQ(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
  });
  enqueued.get_future().wait();
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaSuccess);  // this thread's: empty
  EXPECT_EQ(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(cudaStreamPerThread), cudaErrorInvalidResourceHandle);
  gate.set_value();
  finished.set_value();
  other.join();
}

TEST(ApiThatIsLacking, says_not_supported) {
#define LACKING(name)                                                 \
  EXPECT_EQ(lacking_##name(0, 0, 0, 0, 0, 0), cudaErrorNotSupported); \
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
#include "cuda/lacking.def"
#undef LACKING
}

}  // namespace
