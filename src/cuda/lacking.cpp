// SPDX-License-Identifier: Apache-2.0
// Runtime functions that we lack are exported all the same, so that a program that imports one starts, and runs if it
// never calls it. A call fails with cudaErrorNotSupported and says once which function it was. Functions that CUDA 13
// dropped and that are another's old name live here too. The header is not included: it declares some of these names
// with their arguments, which nothing here looks at.
#include "cuda/lacking.h"

#include <atomic>

#define EXPORT extern "C" __attribute__((visibility("default")))

#define LACKING(name)                                  \
  EXPORT int name();                                   \
  EXPORT int name() {                                  \
    static std::atomic<bool> said{false};              \
    return warplens::cuda::not_supported(#name, said); \
  }
#include "cuda/lacking.def"
#undef LACKING

extern "C" int cudaDeviceSynchronize();
extern "C" int cudaDeviceReset();
extern "C" int cudaDeviceSetLimit(int limit, unsigned long value);
extern "C" int cudaDeviceGetLimit(unsigned long* value, int limit);
extern "C" int cudaDeviceSetCacheConfig(int config);
extern "C" int cudaDeviceGetCacheConfig(int* config);

EXPORT int cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
EXPORT int cudaThreadExit() { return cudaDeviceReset(); }
EXPORT int cudaThreadSetLimit(int limit, unsigned long value) { return cudaDeviceSetLimit(limit, value); }
EXPORT int cudaThreadGetLimit(unsigned long* value, int limit) { return cudaDeviceGetLimit(value, limit); }
EXPORT int cudaThreadSetCacheConfig(int config) { return cudaDeviceSetCacheConfig(config); }
EXPORT int cudaThreadGetCacheConfig(int* config) { return cudaDeviceGetCacheConfig(config); }
