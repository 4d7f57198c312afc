// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects.
// PTX k_fetch: tex.1d.v4.f32.s32
// PTX k_fetch: tex.2d.v4.f32.f32
// PTX k_fetch: tex.2d.v4.u32.f32
// PTX k_fetch: tex.3d.v4.f32.f32
// PTX k_fetch: tex.a2d.v4.f32.f32
// PTX k_fetch: tex.level.2d.v4.f32.f32
extern "C" __global__ void k_fetch(float* f, float4* v, uchar4* c, cudaTextureObject_t t) {
  f[0] = tex1Dfetch<float>(t, 3) + tex2D<float>(t, 0.5f, 1.5f) + tex3D<float>(t, 1, 2, 3) +
         tex2DLayered<float>(t, 1, 2, 3) + tex2DLod<float>(t, 1, 2, 0);
  v[0] = tex2D<float4>(t, 0.5f, 0.5f);
  c[0] = tex2D<uchar4>(t, 0.5f, 0.5f);
  tex1D(f + 1, t, 0.25f);
}
// PTX k_surface: sust.b.2d.b32.trap
// PTX k_surface: sust.b.2d.v4.b32.clamp
// PTX k_surface: suld.b.2d.b32.trap
// PTX k_surface: suld.b.3d.b8.zero
extern "C" __global__ void k_surface(float* f, unsigned char* c, float4 v, cudaSurfaceObject_t s) {
  surf2Dwrite(f[0], s, 4, 5);
  surf2Dwrite(v, s, 16, 5, cudaBoundaryModeClamp);
  surf2Dread(f + 1, s, 8, 1);
  f[2] = surf1Dread<float>(s, 12);
  c[0] = surf3Dread<unsigned char>(s, 1, 2, 3, cudaBoundaryModeZero);
}
int main() {
  cudaTextureObject_t object = 0;
  cudaResourceDesc resource = {};
  cudaTextureDesc texture = {};
  resource.resType = cudaResourceTypeLinear;
  texture.addressMode[0] = cudaAddressModeClamp;
  return cudaCreateTextureObject(&object, &resource, &texture, nullptr);
}
