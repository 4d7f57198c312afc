// SPDX-License-Identifier: Apache-2.0
// The same fields have the same names in all layouts, so one template fills any of them. Most fields are also
// attributes, and are answered from those: numbers are the interface's (cudaDeviceGetAttribute).
#include "cuda/properties.h"

#include <cstddef>
#include <cstring>

namespace warplens::cuda {
namespace {

/// CUDA 12's layout. Names, order and sizes are interface facts: programs built with that toolkit read them.
struct Properties12 {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned int luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
  int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2];
  int maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap;
  int maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3];
  int maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount;
  int unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported;
  int canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned int gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned int memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;
  int reserved[63];
};
static_assert(sizeof(Properties12) == 1032);

template <typename P>
void fill_capabilities(const gpu::Gpu& gpu, P& to) {
  const auto set = [&](auto& field, int attribute) {
    field = static_cast<std::remove_reference_t<decltype(field)>>(gpu.attribute(attribute));
  };
  set(to.memPitch, 11);
  set(to.clockRate, 13);
  set(to.textureAlignment, 14);
  set(to.deviceOverlap, 15);
  set(to.kernelExecTimeoutEnabled, 17);
  set(to.integrated, 18);
  set(to.canMapHostMemory, 19);
  set(to.computeMode, 20);
  set(to.surfaceAlignment, 30);
  set(to.concurrentKernels, 31);
  set(to.ECCEnabled, 32);
  set(to.pciBusID, 33);
  set(to.pciDeviceID, 34);
  set(to.tccDriver, 35);
  set(to.memoryClockRate, 36);
  set(to.memoryBusWidth, 37);
  set(to.l2CacheSize, 38);
  set(to.maxThreadsPerMultiProcessor, 39);
  set(to.asyncEngineCount, 40);
  set(to.unifiedAddressing, 41);
  set(to.pciDomainID, 50);
  set(to.texturePitchAlignment, 51);
  set(to.streamPrioritiesSupported, 78);
  set(to.globalL1CacheSupported, 79);
  set(to.localL1CacheSupported, 80);
  set(to.managedMemory, 83);
  set(to.isMultiGpuBoard, 84);
  set(to.multiGpuBoardGroupID, 85);
  set(to.hostNativeAtomicSupported, 86);
  set(to.singleToDoublePrecisionPerfRatio, 87);
  set(to.pageableMemoryAccess, 88);
  set(to.concurrentManagedAccess, 89);
  set(to.computePreemptionSupported, 90);
  set(to.canUseHostPointerForRegisteredMem, 91);
  set(to.cooperativeLaunch, 95);
  set(to.cooperativeMultiDeviceLaunch, 96);
  set(to.hostRegisterSupported, 99);
  set(to.pageableMemoryAccessUsesHostPageTables, 100);
  set(to.directManagedMemAccessFromHost, 101);
  set(to.persistingL2CacheMaxSize, 108);
  set(to.accessPolicyMaxWindowSize, 109);
  set(to.sparseCudaArraySupported, 112);
  set(to.hostRegisterReadOnlySupported, 113);
  set(to.timelineSemaphoreInteropSupported, 114);
  set(to.memoryPoolsSupported, 115);
  set(to.gpuDirectRDMASupported, 116);
  set(to.gpuDirectRDMAFlushWritesOptions, 117);
  set(to.gpuDirectRDMAWritesOrdering, 118);
  set(to.memoryPoolSupportedHandleTypes, 119);
  set(to.clusterLaunch, 120);
  set(to.deferredMappingCudaArraySupported, 121);
  set(to.ipcEventSupported, 125);
  set(to.unifiedFunctionPointers, 129);
}

template <typename P>
void fill_texture_limits(const gpu::Gpu& gpu, P& to) {
  const auto set = [&](int& field, int attribute) { field = gpu.attribute(attribute); };
  set(to.maxTexture1D, 21);
  set(to.maxTexture2D[0], 22);
  set(to.maxTexture2D[1], 23);
  set(to.maxTexture3D[0], 24);
  set(to.maxTexture3D[1], 25);
  set(to.maxTexture3D[2], 26);
  set(to.maxTexture2DLayered[0], 27);
  set(to.maxTexture2DLayered[1], 28);
  set(to.maxTexture2DLayered[2], 29);
  set(to.maxTexture1DLayered[0], 42);
  set(to.maxTexture1DLayered[1], 43);
  set(to.maxTexture2DGather[0], 45);
  set(to.maxTexture2DGather[1], 46);
  set(to.maxTexture3DAlt[0], 47);
  set(to.maxTexture3DAlt[1], 48);
  set(to.maxTexture3DAlt[2], 49);
  set(to.maxTextureCubemap, 52);
  set(to.maxTextureCubemapLayered[0], 53);
  set(to.maxTextureCubemapLayered[1], 54);
  set(to.maxSurface1D, 55);
  set(to.maxSurface2D[0], 56);
  set(to.maxSurface2D[1], 57);
  set(to.maxSurface3D[0], 58);
  set(to.maxSurface3D[1], 59);
  set(to.maxSurface3D[2], 60);
  set(to.maxSurface1DLayered[0], 61);
  set(to.maxSurface1DLayered[1], 62);
  set(to.maxSurface2DLayered[0], 63);
  set(to.maxSurface2DLayered[1], 64);
  set(to.maxSurface2DLayered[2], 65);
  set(to.maxSurfaceCubemap, 66);
  set(to.maxSurfaceCubemapLayered[0], 67);
  set(to.maxSurfaceCubemapLayered[1], 68);
  set(to.maxTexture1DLinear, 69);
  set(to.maxTexture2DLinear[0], 70);
  set(to.maxTexture2DLinear[1], 71);
  set(to.maxTexture2DLinear[2], 72);
  set(to.maxTexture2DMipmap[0], 73);
  set(to.maxTexture2DMipmap[1], 74);
  set(to.maxTexture1DMipmap, 77);
}

template <typename P>
void fill_sizes(const gpu::Gpu& gpu, P& to) {
  std::memcpy(to.name, gpu.name.data(), std::min(gpu.name.size(), sizeof to.name - 1));
  to.totalGlobalMem = gpu.memory_bytes;
  to.sharedMemPerBlock = gpu.shared_per_block;
  to.regsPerBlock = static_cast<int>(gpu.registers_per_block);
  to.warpSize = static_cast<int>(gpu.warp_size);
  to.maxThreadsPerBlock = static_cast<int>(gpu.threads_per_block);
  for (size_t i = 0; i < 3; ++i) {
    to.maxThreadsDim[i] = static_cast<int>(gpu.block_dim[i]);
    to.maxGridSize[i] = static_cast<int>(gpu.grid_dim[i]);
  }
  to.totalConstMem = static_cast<size_t>(gpu.constant_bytes);
  to.major = gpu.compute_capability[0];
  to.minor = gpu.compute_capability[1];
  to.multiProcessorCount = gpu.sms;
  to.sharedMemPerMultiprocessor = gpu.shared_per_sm;
  to.regsPerMultiprocessor = static_cast<int>(gpu.registers_per_sm);
  to.sharedMemPerBlockOptin = gpu.shared_per_block_optin;
  to.maxBlocksPerMultiProcessor = static_cast<int>(gpu.blocks_per_sm);
  to.reservedSharedMemPerBlock = gpu.shared_reserved_per_block;
}

Properties12 properties_12(const gpu::Gpu& gpu) {
  Properties12 p = {};
  fill_sizes(gpu, p);
  fill_capabilities(gpu, p);
  fill_texture_limits(gpu, p);
  return p;
}

}  // namespace

void fill_properties(const gpu::Gpu& gpu, cudaDeviceProp& to) {
  std::memset(&to, 0, sizeof to);
  fill_sizes(gpu, to);
  fill_capabilities(gpu, to);
  fill_texture_limits(gpu, to);
}

void fill_properties_12(const gpu::Gpu& gpu, void* to) {
  const Properties12 p = properties_12(gpu);
  std::memcpy(to, &p, sizeof p);
}

void fill_properties_11(const gpu::Gpu& gpu, void* to) {
  const Properties12 p = properties_12(gpu);
  std::memcpy(to, &p, offsetof(Properties12, hostRegisterSupported));
}

}  // namespace warplens::cuda
