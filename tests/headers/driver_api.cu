// SPDX-License-Identifier: Apache-2.0
// Programs that include cuda.h, before or after the runtime, and a few that use it; complex numbers.
#include <cuComplex.h>
#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_runtime.h>
#include <library_types.h>

// PTX k: fma.rn.f32
extern "C" __global__ void k(cuFloatComplex* z) {
  z[0] = cuCadd(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, 4)).x > 3 ? cuCmulf(z[1], z[2]) : cuCdivf(z[1], z[2]);
}
int run() {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction function;
  CUdeviceptr pointer;
  CUresult r = cuInit(0);
  r = cuDeviceGet(&device, 0);
  r = cuCtxCreate(&context, 0, device);
  CUctxCreateParams params = {};
  r = cuCtxCreate(&context, &params, 0, device);
  r = cuModuleLoadData(&module, "");
  r = cuModuleGetFunction(&function, module, "k");
  r = cuMemAlloc(&pointer, 64);
  void* args[] = {&pointer};
  r = cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, args, nullptr);
  r = cuMemFree(pointer);
  return r == CUDA_SUCCESS ? 0 : 1;
}
