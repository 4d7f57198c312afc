// SPDX-License-Identifier: Apache-2.0
// cudaCreateChannelDesc<T>(): the texel format of a C++ type, derived from its size and kind.
#ifndef WARPLENS_CUDA_CHANNEL_DESCRIPTOR_H
#define WARPLENS_CUDA_CHANNEL_DESCRIPTOR_H
#define __CHANNEL_DESCRIPTOR_H__  // programs ask whether the file was included by this name
#ifdef __cplusplus
#include "cuda_runtime_api.h"

template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}
#define WARPLENS_CHANNEL(T, bits, n, kind)                                                               \
  template <>                                                                                            \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<T>() {                                              \
    return cudaCreateChannelDesc(bits, (n) > 1 ? (bits) : 0, (n) > 2 ? (bits) : 0, (n) > 3 ? (bits) : 0, \
                                 cudaChannelFormatKind##kind);                                           \
  }
#define WARPLENS_CHANNELS(scalar, vec, bits, kind) \
  WARPLENS_CHANNEL(scalar, bits, 1, kind)          \
  WARPLENS_CHANNEL(vec##1, bits, 1, kind)          \
  WARPLENS_CHANNEL(vec##2, bits, 2, kind)          \
  WARPLENS_CHANNEL(vec##4, bits, 4, kind)
WARPLENS_CHANNELS(signed char, char, 8, Signed)
WARPLENS_CHANNELS(unsigned char, uchar, 8, Unsigned)
WARPLENS_CHANNELS(short, short, 16, Signed)
WARPLENS_CHANNELS(unsigned short, ushort, 16, Unsigned)
WARPLENS_CHANNELS(int, int, 32, Signed)
WARPLENS_CHANNELS(unsigned int, uint, 32, Unsigned)
WARPLENS_CHANNELS(float, float, 32, Float)
WARPLENS_CHANNEL(char, 8, 1, Signed)
#undef WARPLENS_CHANNELS
#undef WARPLENS_CHANNEL

#endif
#endif
