// SPDX-License-Identifier: Apache-2.0
// What programs ask about the device, and the errors of wrong device numbers.
#include "show.h"

int main() {
  int n = 0, device = -1;
  SHOW(cudaGetDeviceCount(&n));
  SHOW(cudaGetDevice(&device));
  VALUE("device", device);
  SHOW(cudaSetDevice(0));
  SHOW(cudaSetDevice(77));
  SHOW(cudaSetDevice(-1));
  SHOW(cudaGetLastError());
  cudaDeviceProp p;
  SHOW(cudaGetDeviceProperties(&p, 0));
  SHOW(cudaGetDeviceProperties(&p, 99));
  SHOW(cudaGetDeviceProperties(&p, 0));
  std::printf("%s\n", p.name);
#define P(field) VALUE(#field, p.field)
  P(totalGlobalMem), P(sharedMemPerBlock), P(regsPerBlock), P(warpSize), P(memPitch), P(maxThreadsPerBlock);
  P(maxThreadsDim[0]), P(maxThreadsDim[1]), P(maxThreadsDim[2]), P(maxGridSize[0]), P(maxGridSize[1]);
  P(maxGridSize[2]), P(totalConstMem), P(major), P(minor), P(textureAlignment), P(texturePitchAlignment);
  P(multiProcessorCount), P(integrated), P(canMapHostMemory), P(concurrentKernels), P(ECCEnabled);
  P(asyncEngineCount), P(unifiedAddressing), P(memoryBusWidth), P(l2CacheSize), P(persistingL2CacheMaxSize);
  P(maxThreadsPerMultiProcessor), P(streamPrioritiesSupported), P(globalL1CacheSupported), P(localL1CacheSupported);
  P(sharedMemPerMultiprocessor), P(regsPerMultiprocessor), P(managedMemory), P(isMultiGpuBoard);
  P(hostNativeAtomicSupported), P(pageableMemoryAccess), P(concurrentManagedAccess), P(computePreemptionSupported);
  P(canUseHostPointerForRegisteredMem), P(cooperativeLaunch), P(sharedMemPerBlockOptin);
  P(maxBlocksPerMultiProcessor), P(accessPolicyMaxWindowSize), P(reservedSharedMemPerBlock), P(hostRegisterSupported);
  P(memoryPoolsSupported), P(clusterLaunch), P(unifiedFunctionPointers), P(surfaceAlignment);
  int value = 0;
  for (int a = 1; a <= 145; ++a) {
    const cudaError_t e = cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(a), 0);
    if (e == cudaSuccess) std::printf("attribute %d = %d\n", a, value);
    if (e != cudaSuccess) std::printf("attribute %d: %s\n", a, cudaGetErrorName(e));
  }
  SHOW(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 9));
  SHOW(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
  SHOW(cudaGetDeviceCount(nullptr));
  SHOW(cudaDriverGetVersion(&value));
  SHOW(cudaRuntimeGetVersion(&value));
  SHOW(cudaDriverGetVersion(nullptr));
  SHOW(cudaGetLastError());
  VALUE("string of success is not empty", std::strlen(cudaGetErrorString(cudaSuccess)) > 0);
  SHOW(cudaDeviceReset());
  return 0;
}
