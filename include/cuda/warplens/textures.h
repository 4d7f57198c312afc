// SPDX-License-Identifier: Apache-2.0
// Fetches through texture objects and accesses through surface objects. clang's header knows the tex instruction of
// each fetch by a name; surfaces have no such help and are written here, as unformatted accesses of 1 to 16 bytes.
#ifndef WARPLENS_CUDA_TEXTURES_H
#define WARPLENS_CUDA_TEXTURES_H

// Each fetch in its two forms: returning the value, and storing it through a pointer.
#define WL_TEX(name, op, params, ...)                                                                          \
  template <class T>                                                                                           \
  static __device__ inline __attribute__((always_inline)) T name(cudaTextureObject_t object, WL_LIST params) { \
    T value;                                                                                                   \
    __nv_tex_surf_handler(op, &value, object, __VA_ARGS__);                                                    \
    return value;                                                                                              \
  }                                                                                                            \
  template <class T>                                                                                           \
  static __device__ inline __attribute__((always_inline)) void name(T* value, cudaTextureObject_t object,      \
                                                                    WL_LIST params) {                          \
    __nv_tex_surf_handler(op, value, object, __VA_ARGS__);                                                     \
  }
#define WL_LIST(...) __VA_ARGS__
WL_TEX(tex1Dfetch, "__itex1Dfetch", (int x), x)
WL_TEX(tex1D, "__itex1D", (float x), x)
WL_TEX(tex2D, "__itex2D", (float x, float y), x, y)
WL_TEX(tex3D, "__itex3D", (float x, float y, float z), x, y, z)
WL_TEX(tex1DLayered, "__itex1DLayered", (float x, int layer), x, layer)
WL_TEX(tex2DLayered, "__itex2DLayered", (float x, float y, int layer), x, y, layer)
WL_TEX(texCubemap, "__itexCubemap", (float x, float y, float z), x, y, z)
WL_TEX(texCubemapLayered, "__itexCubemapLayered", (float x, float y, float z, int layer), x, y, z, layer)
WL_TEX(tex1DLod, "__itex1DLod", (float x, float level), x, level)
WL_TEX(tex2DLod, "__itex2DLod", (float x, float y, float level), x, y, level)
WL_TEX(tex3DLod, "__itex3DLod", (float x, float y, float z, float level), x, y, z, level)
WL_TEX(tex1DGrad, "__itex1DGrad", (float x, float dx, float dy), x, dx, dy)
WL_TEX(tex2Dgather, "__itex2Dgather", (float x, float y, int comp = 0), x, y, comp)
#undef WL_LIST
#undef WL_TEX

// geometry: 1d, 2d, 3d; coordinates: asm text and operands after the object, which is operand %0 of a store and the
// first after the outputs of a load. x counts bytes.
namespace warplens_cuda {
#define WL_SUST(geometry, mode, form, at, regs, ...) \
  asm volatile("sust.b." geometry "." form "." mode " [%0, " at "], " regs ";" ::"l"(o), __VA_ARGS__ : "memory")
#define WL_STORES(mode, name, geometry, params, at1, coords, r1, r2, r4)                                         \
  static __device__ inline void name(cudaSurfaceObject_t o, const unsigned* v, unsigned bytes, WL_LIST params) { \
    if (bytes == 1)                                                                                              \
      WL_SUST(geometry, mode, "b8", at1, r1, WL_LIST coords, "h"((unsigned short)v[0]));                         \
    else if (bytes == 2)                                                                                         \
      WL_SUST(geometry, mode, "b16", at1, r1, WL_LIST coords, "h"((unsigned short)v[0]));                        \
    else if (bytes == 4)                                                                                         \
      WL_SUST(geometry, mode, "b32", at1, r1, WL_LIST coords, "r"(v[0]));                                        \
    else if (bytes == 8)                                                                                         \
      WL_SUST(geometry, mode, "v2.b32", at1, r2, WL_LIST coords, "r"(v[0]), "r"(v[1]));                          \
    else                                                                                                         \
      WL_SUST(geometry, mode, "v4.b32", at1, r4, WL_LIST coords, "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]));    \
  }
#define WL_LIST(...) __VA_ARGS__
#define WL_STORES_OF(mode)                                                                                             \
  WL_STORES(#mode, store_1D_##mode, "1d", (int x), "{%1}", ("r"(x)), "{%2}", "{%2, %3}", "{%2, %3, %4, %5}")           \
  WL_STORES(#mode, store_2D_##mode, "2d", (int x, int y), "{%1, %2}", ("r"(x), "r"(y)), "{%3}", "{%3, %4}",            \
            "{%3, %4, %5, %6}")                                                                                        \
  WL_STORES(#mode, store_3D_##mode, "3d", (int x, int y, int z), "{%1, %2, %3, %3}", ("r"(x), "r"(y), "r"(z)), "{%4}", \
            "{%4, %5}", "{%4, %5, %6, %7}")
WL_STORES_OF(trap)
WL_STORES_OF(zero)
WL_STORES_OF(clamp)
#undef WL_STORES_OF
#undef WL_STORES
#undef WL_SUST

#define WL_LOADS(mode, name, geometry, params, at_h, at_2, at_4, ...)                                            \
  static __device__ inline void name(cudaSurfaceObject_t o, unsigned* v, unsigned bytes, WL_LIST params) {       \
    unsigned short h = 0;                                                                                        \
    if (bytes == 1) {                                                                                            \
      asm volatile("suld.b." geometry ".b8." mode " {%0}, [%1, " at_h "];" : "=h"(h) : "l"(o), __VA_ARGS__);     \
      v[0] = h;                                                                                                  \
    } else if (bytes == 2) {                                                                                     \
      asm volatile("suld.b." geometry ".b16." mode " {%0}, [%1, " at_h "];" : "=h"(h) : "l"(o), __VA_ARGS__);    \
      v[0] = h;                                                                                                  \
    } else if (bytes == 4) {                                                                                     \
      asm volatile("suld.b." geometry ".b32." mode " {%0}, [%1, " at_h "];" : "=r"(v[0]) : "l"(o), __VA_ARGS__); \
    } else if (bytes == 8) {                                                                                     \
      asm volatile("suld.b." geometry ".v2.b32." mode " {%0, %1}, [%2, " at_2 "];"                               \
                   : "=r"(v[0]), "=r"(v[1])                                                                      \
                   : "l"(o), __VA_ARGS__);                                                                       \
    } else {                                                                                                     \
      asm volatile("suld.b." geometry ".v4.b32." mode " {%0, %1, %2, %3}, [%4, " at_4 "];"                       \
                   : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])                                              \
                   : "l"(o), __VA_ARGS__);                                                                       \
    }                                                                                                            \
  }
#define WL_LOADS_OF(mode)                                                                                   \
  WL_LOADS(#mode, load_1D_##mode, "1d", (int x), "{%2}", "{%3}", "{%5}", "r"(x))                            \
  WL_LOADS(#mode, load_2D_##mode, "2d", (int x, int y), "{%2, %3}", "{%3, %4}", "{%5, %6}", "r"(x), "r"(y)) \
  WL_LOADS(#mode, load_3D_##mode, "3d", (int x, int y, int z), "{%2, %3, %4, %4}", "{%3, %4, %5, %5}",      \
           "{%5, %6, %7, %7}", "r"(x), "r"(y), "r"(z))
WL_LOADS_OF(trap)
WL_LOADS_OF(zero)
WL_LOADS_OF(clamp)
#undef WL_LOADS_OF
#undef WL_LOADS
}  // namespace warplens_cuda

#define WL_SURFACE(d, params, args)                                                                                \
  template <class T>                                                                                               \
  static __device__ inline __attribute__((always_inline)) void surf##d##write(                                     \
      T value, cudaSurfaceObject_t object, WL_LIST params, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {  \
    unsigned v[4] = {};                                                                                            \
    __builtin_memcpy(v, &value, sizeof(T));                                                                        \
    if (mode == cudaBoundaryModeTrap)                                                                              \
      WL_SURFACE_CALL(store, d, trap)(object, v, sizeof(T), WL_LIST args);                                         \
    else if (mode == cudaBoundaryModeZero)                                                                         \
      WL_SURFACE_CALL(store, d, zero)(object, v, sizeof(T), WL_LIST args);                                         \
    else                                                                                                           \
      WL_SURFACE_CALL(store, d, clamp)(object, v, sizeof(T), WL_LIST args);                                        \
  }                                                                                                                \
  template <class T>                                                                                               \
  static __device__ inline __attribute__((always_inline)) void surf##d##read(                                      \
      T* value, cudaSurfaceObject_t object, WL_LIST params, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    unsigned v[4] = {};                                                                                            \
    if (mode == cudaBoundaryModeTrap)                                                                              \
      WL_SURFACE_CALL(load, d, trap)(object, v, sizeof(T), WL_LIST args);                                          \
    else if (mode == cudaBoundaryModeZero)                                                                         \
      WL_SURFACE_CALL(load, d, zero)(object, v, sizeof(T), WL_LIST args);                                          \
    else                                                                                                           \
      WL_SURFACE_CALL(load, d, clamp)(object, v, sizeof(T), WL_LIST args);                                         \
    __builtin_memcpy(value, v, sizeof(T));                                                                         \
  }                                                                                                                \
  template <class T>                                                                                               \
  static __device__ inline __attribute__((always_inline)) T surf##d##read(                                         \
      cudaSurfaceObject_t object, WL_LIST params, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {           \
    T value;                                                                                                       \
    surf##d##read(&value, object, WL_LIST args, mode);                                                             \
    return value;                                                                                                  \
  }
#define WL_SURFACE_CALL(what, d, mode) warplens_cuda::what##_##d##_##mode
WL_SURFACE(1D, (int x), (x))
WL_SURFACE(2D, (int x, int y), (x, y))
WL_SURFACE(3D, (int x, int y, int z), (x, y, z))
#undef WL_SURFACE
#undef WL_SURFACE_CALL
#undef WL_LIST

#endif
