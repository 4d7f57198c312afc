// SPDX-License-Identifier: Apache-2.0
// C++ faces of the runtime API: typed pointers, kernels and symbols instead of const void*, and the overloads with
// the argument lists that CUDA 12 and earlier had.
#ifndef WARPLENS_CUDA_RUNTIME_TEMPLATES_H
#define WARPLENS_CUDA_RUNTIME_TEMPLATES_H

#include "../cuda_runtime_api.h"

// ---- memory of a type ----
template <class T>
inline cudaError_t cudaMalloc(T** pointer, size_t size) {
  return ::cudaMalloc((void**)(void*)pointer, size);
}
template <class T>
inline cudaError_t cudaMallocManaged(T** pointer, size_t size, unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged((void**)(void*)pointer, size, flags);
}
template <class T>
inline cudaError_t cudaMallocHost(T** pointer, size_t size, unsigned int flags = 0) {
  return ::cudaHostAlloc((void**)(void*)pointer, size, flags);
}
inline cudaError_t cudaMallocHost(void** pointer, size_t size, unsigned int flags) {
  return ::cudaHostAlloc(pointer, size, flags);
}
template <class T>
inline cudaError_t cudaHostAlloc(T** pointer, size_t size, unsigned int flags) {
  return ::cudaHostAlloc((void**)(void*)pointer, size, flags);
}
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
  return ::cudaHostGetDevicePointer((void**)(void*)device, host, flags);
}
template <class T>
inline cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return ::cudaMallocPitch((void**)(void*)pointer, pitch, width, height);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, size_t size, cudaStream_t stream) {
  return ::cudaMallocAsync((void**)(void*)pointer, size, stream);
}
template <class T>
inline cudaError_t cudaMallocFromPoolAsync(T** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(void*)pointer, size, pool, stream);
}
inline cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(pointer, size, pool, stream);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(void*)pointer, size, pool, stream);
}
template <class T>
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T* pointer, size_t length = 0,
                                            unsigned int flags = cudaMemAttachSingle) {
  return ::cudaStreamAttachMemAsync(stream, (void*)pointer, length, flags);
}

// ---- symbols ----
template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* src, size_t count, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol((const void*)&symbol, src, count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* src, size_t count, size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0) {
  return ::cudaMemcpyToSymbolAsync((const void*)&symbol, src, count, offset, kind, stream);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* dst, const T& symbol, size_t count, size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(dst, (const void*)&symbol, count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const T& symbol, size_t count, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0) {
  return ::cudaMemcpyFromSymbolAsync(dst, (const void*)&symbol, count, offset, kind, stream);
}
template <class P, class T>
inline cudaError_t cudaGetSymbolAddress(P** pointer, const T& symbol) {
  return ::cudaGetSymbolAddress((void**)(void*)pointer, (const void*)&symbol);
}
template <class T>
inline cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol) {
  return ::cudaGetSymbolSize(size, (const void*)&symbol);
}

// ---- functions ----
template <class T>
inline cudaError_t cudaLaunchKernel(T* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem = 0,
                                    cudaStream_t stream = 0) {
  return ::cudaLaunchKernel((const void*)func, gridDim, blockDim, args, sharedMem, stream);
}
template <class T>
inline cudaError_t cudaLaunchCooperativeKernel(T* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem = 0,
                                               cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel((const void*)func, gridDim, blockDim, args, sharedMem, stream);
}
#if __cplusplus >= 201103L
namespace warplens_cuda {
template <class T>
struct Same {
  typedef T type;
};
template <class... Param>
inline cudaError_t launch_ex(const cudaLaunchConfig_t* config, const void* func, Param... args) {
  void* list[sizeof...(Param) + 1] = {(void*)&args...};
  return ::cudaLaunchKernelExC(config, func, list);
}
}  // namespace warplens_cuda
// Arguments are converted to the kernel's parameter types, as a call would.
template <class... Param, class... Arg>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Param...), Arg&&... args) {
  static_assert(sizeof...(Param) == sizeof...(Arg), "cudaLaunchKernelEx: the kernel takes another number of arguments");
  return warplens_cuda::launch_ex<Param...>(config, (const void*)kernel, static_cast<Arg&&>(args)...);
}
#endif
template <class T>
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, T* func, void** args) {
  return ::cudaLaunchKernelExC(config, (const void*)func, args);
}
template <class T>
inline cudaError_t cudaFuncSetCacheConfig(T* func, cudaFuncCache config) {
  return ::cudaFuncSetCacheConfig((const void*)func, config);
}
template <class T>
inline cudaError_t cudaFuncSetSharedMemConfig(T* func, cudaSharedMemConfig config) {
  return ::cudaFuncSetSharedMemConfig((const void*)func, config);
}
template <class T>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* func) {
  return ::cudaFuncGetAttributes(attributes, (const void*)func);
}
template <class T>
inline cudaError_t cudaFuncSetAttribute(T* func, cudaFuncAttribute attribute, int value) {
  return ::cudaFuncSetAttribute((const void*)func, attribute, value);
}
template <class T>
inline cudaError_t cudaFuncGetName(const char** name, T* func) {
  return ::cudaFuncGetName(name, (const void*)func);
}
template <class T>
inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, T* symbol) {
  return ::cudaGetFuncBySymbol(function, (const void*)symbol);
}
template <class T>
inline cudaError_t cudaGetKernel(cudaKernel_t* kernel, T* symbol) {
  return ::cudaGetKernel(kernel, (const void*)symbol);
}

// ---- occupancy ----
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T func, int blockSize, size_t dynamic) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void*)func, blockSize, dynamic, 0);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T func, int blockSize,
                                                                          size_t dynamic, unsigned int flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void*)func, blockSize, dynamic, flags);
}
template <class T>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, T* func, int blocks, int blockSize) {
  return ::cudaOccupancyAvailableDynamicSMemPerBlock(bytes, (const void*)func, blocks, blockSize);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, T* func, const cudaLaunchConfig_t* config) {
  return ::cudaOccupancyMaxPotentialClusterSize(size, (const void*)func, config);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveClusters(int* count, T* func, const cudaLaunchConfig_t* config) {
  return ::cudaOccupancyMaxActiveClusters(count, (const void*)func, config);
}

// The block size with the most resident threads; among equals the largest block. Tries every multiple of the warp.
template <class SharedOfBlock, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* minGridSize, int* blockSize, T func,
                                                                           SharedOfBlock shared_of_block,
                                                                           int blockSizeLimit = 0,
                                                                           unsigned int flags = 0) {
  if (!minGridSize || !blockSize) return cudaErrorInvalidValue;
  int device = 0, warp = 0, sms = 0, limit = 0, resident_limit = 0;
  cudaFuncAttributes attributes;
  cudaError_t error = ::cudaGetDevice(&device);
  if (!error) error = ::cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
  if (!error) error = ::cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (!error) error = ::cudaDeviceGetAttribute(&limit, cudaDevAttrMaxThreadsPerBlock, device);
  if (!error) error = ::cudaDeviceGetAttribute(&resident_limit, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  if (!error) error = ::cudaFuncGetAttributes(&attributes, (const void*)func);
  if (error) return error;
  if (attributes.maxThreadsPerBlock < limit) limit = attributes.maxThreadsPerBlock;
  if (blockSizeLimit > 0 && blockSizeLimit < limit) limit = blockSizeLimit;
  int best_threads = 0, best_block = 0, best_blocks = 0;
  for (int block = (limit + warp - 1) / warp * warp; block > 0; block -= warp) {
    const int size = block < limit ? block : limit;
    int blocks = 0;
    error = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void*)func, size,
                                                                     shared_of_block(size), flags);
    if (error) return error;
    if (size * blocks > best_threads) best_threads = size * blocks, best_block = size, best_blocks = blocks;
    if (best_threads == resident_limit) break;
  }
  *minGridSize = best_blocks * sms;
  *blockSize = best_block;
  return cudaSuccess;
}
template <class SharedOfBlock, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* minGridSize, int* blockSize, T func,
                                                                  SharedOfBlock shared_of_block,
                                                                  int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func, shared_of_block,
                                                                 blockSizeLimit, 0);
}
namespace warplens_cuda {
struct FixedShared {
  size_t bytes;
  size_t operator()(int) const { return bytes; }
};
}  // namespace warplens_cuda
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, T func,
                                                               size_t dynamic = 0, int blockSizeLimit = 0,
                                                               unsigned int flags = 0) {
  warplens_cuda::FixedShared fixed = {dynamic};
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func, fixed, blockSizeLimit,
                                                                 flags);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, T func, size_t dynamic = 0,
                                                      int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, dynamic, blockSizeLimit, 0);
}

// ---- argument lists of CUDA 12 and earlier ----
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return ::cudaEventCreateWithFlags(event, flags);
}
inline cudaMemLocation warplens_cuda_location(int device) {
  cudaMemLocation location;
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}
inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, int device, cudaStream_t stream = 0) {
  return ::cudaMemPrefetchAsync(pointer, count, warplens_cuda_location(device), 0, stream);
}
inline cudaError_t cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise advice, int device) {
  return ::cudaMemAdvise(pointer, count, advice, warplens_cuda_location(device));
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t* error_node,
                                        char* log, size_t size) {
  if (error_node) *error_node = 0;
  if (log && size) *log = 0;
  return ::cudaGraphInstantiate(exec, graph, 0);
}
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t* error_node,
                                       cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info;
  const cudaError_t error = ::cudaGraphExecUpdate(exec, graph, &info);
  if (error_node) *error_node = info.errorNode;
  if (result) *result = info.result;
  return error;
}
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                            size_t count) {
  return ::cudaGraphAddDependencies(graph, from, to, 0, count);
}

#endif
