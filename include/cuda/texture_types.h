// SPDX-License-Identifier: Apache-2.0
// Texture modes and the description of a texture object.
// The numbers are facts of the binary interface, read off programs that print them (docs/cuda-headers.md).
#ifndef WARPLENS_CUDA_TEXTURE_TYPES_H
#define WARPLENS_CUDA_TEXTURE_TYPES_H
#define __TEXTURE_TYPES_H__  // programs ask whether the file was included by this name

#include "host_defines.h"

#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaTextureTypeCubemapLayered 0xFC

enum cudaTextureAddressMode {
  cudaAddressModeWrap = 0,
  cudaAddressModeClamp = 1,
  cudaAddressModeMirror = 2,
  cudaAddressModeBorder = 3,
};
typedef enum cudaTextureAddressMode cudaTextureAddressMode;

enum cudaTextureFilterMode {
  cudaFilterModePoint = 0,
  cudaFilterModeLinear = 1,
};
typedef enum cudaTextureFilterMode cudaTextureFilterMode;

enum cudaTextureReadMode {
  cudaReadModeElementType = 0,
  cudaReadModeNormalizedFloat = 1,
};
typedef enum cudaTextureReadMode cudaTextureReadMode;

struct cudaTextureDesc {
  enum cudaTextureAddressMode addressMode[3];
  enum cudaTextureFilterMode filterMode;
  enum cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned int maxAnisotropy;
  enum cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias;
  float minMipmapLevelClamp;
  float maxMipmapLevelClamp;
  int disableTrilinearOptimization;
  int seamlessCubemap;
};
typedef struct cudaTextureDesc cudaTextureDesc;

typedef unsigned long long cudaTextureObject_t;

#endif
