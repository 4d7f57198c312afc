// SPDX-License-Identifier: Apache-2.0
// The peer: the same tiled matrix products in OpenCL C on PoCL's CPU device, one thread, nothing counted.
#include <CL/cl.h>
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

namespace warplens::bench {
namespace {

constexpr int kSize = 512;
const char* kSource = R"(
__kernel void tiled(__global const float* A, __global const float* B, __global float* C, int M, int N, int K) {
  __local float As[T][T];
  __local float Bs[T][T];
  int tx = get_local_id(0), ty = get_local_id(1);
  int row = get_group_id(1) * T + ty, col = get_group_id(0) * T + tx;
  float acc = 0;
  for (int p = 0; p < K / T; p++) {
    As[ty][tx] = A[row * K + p * T + tx];
    Bs[ty][tx] = B[(p * T + ty) * N + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < T; k++) acc += As[ty][k] * Bs[k][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < M && col < N) C[row * N + col] = acc;
}
)";

struct Pocl {
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  bool ok() {
    cl_platform_id platforms[8];
    cl_uint count = 0;
    if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) return false;
    for (cl_uint i = 0; i < count && device == nullptr; ++i) {
      char name[256] = {};
      clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, nullptr);
      if (std::strstr(name, "Portable") != nullptr)
        clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, nullptr);
    }
    if (device == nullptr) return false;
    cl_int error = 0;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    queue = clCreateCommandQueue(context, device, 0, &error);
    return error == CL_SUCCESS;
  }
};

void tiled(benchmark::State& state, size_t tile) {
  Pocl pocl;
  if (!pocl.ok()) return state.SkipWithError("no PoCL device");
  cl_int error = 0;
  cl_program program = clCreateProgramWithSource(pocl.context, 1, &kSource, nullptr, &error);
  const std::string options = "-cl-mad-enable -DT=" + std::to_string(tile);
  if (clBuildProgram(program, 1, &pocl.device, options.c_str(), nullptr, nullptr) != CL_SUCCESS)
    return state.SkipWithError("the OpenCL program does not build");
  cl_kernel kernel = clCreateKernel(program, "tiled", &error);
  const size_t bytes = size_t(kSize) * kSize * sizeof(float);
  std::vector<float> ones(size_t(kSize) * kSize, 1.0f);
  cl_mem buffers[3];
  for (auto& b : buffers)
    b = clCreateBuffer(pocl.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, ones.data(), &error);
  const int n = kSize;
  for (cl_uint i = 0; i < 3; ++i) clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]);
  for (cl_uint i = 3; i < 6; ++i) clSetKernelArg(kernel, i, sizeof n, &n);
  const size_t global[2] = {kSize, kSize}, local[2] = {tile, tile};
  auto run = [&] {
    clEnqueueNDRangeKernel(pocl.queue, kernel, 2, nullptr, global, local, 0, nullptr, nullptr);
    clFinish(pocl.queue);
  };
  run();
  for (auto _ : state) run();
  float first = 0;
  clEnqueueReadBuffer(pocl.queue, buffers[2], CL_TRUE, 0, sizeof first, &first, 0, nullptr, nullptr);
  if (first != float(kSize)) state.SkipWithError("the product is wrong");
  state.counters["FLOP/s"] =
      benchmark::Counter(2.0 * kSize * kSize * kSize, benchmark::Counter::kIsIterationInvariantRate);
  for (auto b : buffers) clReleaseMemObject(b);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(pocl.queue);
  clReleaseContext(pocl.context);
}

}  // namespace

void register_pocl() {
  for (size_t tile : {32, 16})
    benchmark::RegisterBenchmark(("pocl/tiled" + std::to_string(tile)).c_str(),
                                 [tile](benchmark::State& s) { tiled(s, tile); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
}

}  // namespace warplens::bench
