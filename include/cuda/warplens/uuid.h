// SPDX-License-Identifier: Apache-2.0
// The identity of a device, which both interfaces declare.
#ifndef WARPLENS_CUDA_UUID_H
#define WARPLENS_CUDA_UUID_H

struct CUuuid_st {
  char bytes[16];
};
typedef struct CUuuid_st CUuuid;

#endif
