// SPDX-License-Identifier: Apache-2.0
// Surface modes and the surface object handle.
// The numbers are facts of the binary interface, read off programs that print them (docs/cuda-headers.md).
#ifndef WARPLENS_CUDA_SURFACE_TYPES_H
#define WARPLENS_CUDA_SURFACE_TYPES_H

#include "host_defines.h"

#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
#define cudaSurfaceTypeCubemap 0x0C
#define cudaSurfaceType1DLayered 0xF1
#define cudaSurfaceType2DLayered 0xF2
#define cudaSurfaceTypeCubemapLayered 0xFC

enum cudaSurfaceBoundaryMode {
  cudaBoundaryModeZero = 0,
  cudaBoundaryModeClamp = 1,
  cudaBoundaryModeTrap = 2,
};
typedef enum cudaSurfaceBoundaryMode cudaSurfaceBoundaryMode;

enum cudaSurfaceFormatMode {
  cudaFormatModeForced = 0,
  cudaFormatModeAuto = 1,
};
typedef enum cudaSurfaceFormatMode cudaSurfaceFormatMode;

typedef unsigned long long cudaSurfaceObject_t;

#endif
