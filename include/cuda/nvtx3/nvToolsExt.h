// SPDX-License-Identifier: Apache-2.0
// Ranges select the launches that Warplens counts (--nvtx REGEX), when its runtime library is there; marks, names and
// domains are accepted, and without effect.
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

#ifdef __cplusplus
extern "C" {
#endif
/* Weak: 0 where another runtime library stands in for ours. */
extern int __cudaWarplensRangePush(const char* name) __attribute__((weak));
extern int __cudaWarplensRangePop(void) __attribute__((weak));
extern uint64_t __cudaWarplensRangeStart(const char* name) __attribute__((weak));
extern void __cudaWarplensRangeEnd(uint64_t id) __attribute__((weak));
#ifdef __cplusplus
}
#endif

static inline const char* __warplens_nvtx_name(const nvtxEventAttributes_t* a) {
  return a && a->messageType == NVTX_MESSAGE_TYPE_ASCII ? a->message.ascii : (const char*)0;
}
static inline int nvtxRangePushA(const char* message) {
  return __cudaWarplensRangePush ? __cudaWarplensRangePush(message) : 0;
}
static inline int nvtxRangePushEx(const nvtxEventAttributes_t* a) { return nvtxRangePushA(__warplens_nvtx_name(a)); }
static inline int nvtxRangePop(void) { return __cudaWarplensRangePop ? __cudaWarplensRangePop() : 0; }
static inline nvtxRangeId_t nvtxRangeStartA(const char* message) {
  return __cudaWarplensRangeStart ? __cudaWarplensRangeStart(message) : 0;
}
static inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* a) {
  return nvtxRangeStartA(__warplens_nvtx_name(a));
}
static inline void nvtxRangeEnd(nvtxRangeId_t id) {
  if (__cudaWarplensRangeEnd) __cudaWarplensRangeEnd(id);
}
static inline void nvtxMarkA(const char* message) { (void)message; }
static inline nvtxDomainHandle_t nvtxDomainCreateA(const char* name) { return (void)name, (nvtxDomainHandle_t)0; }
static inline void nvtxDomainDestroy(nvtxDomainHandle_t domain) { (void)domain; }
static inline int nvtxDomainRangePushEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
  return (void)d, nvtxRangePushEx(a);
}
static inline int nvtxDomainRangePop(nvtxDomainHandle_t domain) { return (void)domain, nvtxRangePop(); }
static inline nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
  return (void)d, nvtxRangeStartEx(a);
}
static inline void nvtxDomainRangeEnd(nvtxDomainHandle_t d, nvtxRangeId_t id) {
  (void)d;
  nvtxRangeEnd(id);
}
static inline void nvtxNameOsThreadA(uint32_t id, const char* name) { (void)id, (void)name; }
#define nvtxRangePush nvtxRangePushA
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA

#endif
