// SPDX-License-Identifier: Apache-2.0
// Ranges and marks for profilers: accepted, and without effect.
#ifndef WARPLENS_CUDA_NVTOOLSEXT_H
#define WARPLENS_CUDA_NVTOOLSEXT_H
#include <stdint.h>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_COLOR_ARGB 1
#define NVTX_MESSAGE_TYPE_ASCII 1
typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st* nvtxDomainHandle_t;
typedef union {
  const char* ascii;
  const void* registered;
} nvtxMessageValue_t;
typedef struct nvtxEventAttributes_v2 {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved0;
  union {
    uint64_t ullValue;
    double dValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_t;

static inline int nvtxRangePushA(const char* message) { return (void)message, 0; }
static inline int nvtxRangePushEx(const nvtxEventAttributes_t* a) { return (void)a, 0; }
static inline int nvtxRangePop(void) { return 0; }
static inline nvtxRangeId_t nvtxRangeStartA(const char* message) { return (void)message, 0; }
static inline void nvtxRangeEnd(nvtxRangeId_t id) { (void)id; }
static inline void nvtxMarkA(const char* message) { (void)message; }
static inline nvtxDomainHandle_t nvtxDomainCreateA(const char* name) { return (void)name, (nvtxDomainHandle_t)0; }
static inline void nvtxDomainDestroy(nvtxDomainHandle_t domain) { (void)domain; }
static inline int nvtxDomainRangePushEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
  return (void)d, (void)a, 0;
}
static inline int nvtxDomainRangePop(nvtxDomainHandle_t domain) { return (void)domain, 0; }
static inline void nvtxNameOsThreadA(uint32_t id, const char* name) { (void)id, (void)name; }
#define nvtxRangePush nvtxRangePushA
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA

#endif
