// SPDX-License-Identifier: Apache-2.0
#include "opencl_peer.h"

#ifdef WARPLENS_HAVE_OPENCL
#include <CL/cl.h>

#include <cstring>
#include <vector>

#include "base/check.h"
#endif

namespace warplens::bench {
#ifndef WARPLENS_HAVE_OPENCL
std::unique_ptr<OpenClPeer> OpenClPeer::create() { return nullptr; }
#else
namespace {

const char* kSource = R"(
#define T 32
__kernel void naive(__global const float* A, __global const float* B, __global float* C, int M, int N, int K) {
  uint x = get_global_id(0), y = get_global_id(1);
  if (x < M && y < N) {
    float t = 0;
    for (int i = 0; i < K; ++i) t += A[x * K + i] * B[i * N + y];
    C[x * N + y] = t;
  }
}
__kernel void coalesced(__global const float* A, __global const float* B, __global float* C, int M, int N, int K) {
  uint x = get_group_id(0) * T + get_local_id(0) / T, y = get_group_id(1) * T + get_local_id(0) % T;
  if (x < M && y < N) {
    float t = 0;
    for (int i = 0; i < K; ++i) t += A[x * K + i] * B[i * N + y];
    C[x * N + y] = t;
  }
}
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

class Pocl final : public OpenClPeer {
 public:
  explicit Pocl(cl_device_id device) : device_(device) {
    cl_int error = 0;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &error);
    ok(error);
    queue_ = clCreateCommandQueue(context_, device_, 0, &error);
    ok(error);
    program_ = clCreateProgramWithSource(context_, 1, &kSource, nullptr, &error);
    ok(error);
    ok(clBuildProgram(program_, 1, &device_, "-cl-mad-enable", nullptr, nullptr));
  }
  ~Pocl() override {
    release();
    clReleaseProgram(program_);
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
  }

  void prepare(const std::string& kernel, int n) override {
    release();
    const auto size = static_cast<size_t>(n);
    cl_int error = 0;
    kernel_ = clCreateKernel(program_, kernel.c_str(), &error);
    ok(error);
    std::vector<float> ones(size * size, 1.0f);
    for (cl_mem& buffer : buffers_) {
      buffer = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, ones.size() * sizeof(float),
                              ones.data(), &error);
      ok(error);
    }
    for (cl_uint i = 0; i < 3; ++i) ok(clSetKernelArg(kernel_, i, sizeof(cl_mem), &buffers_[i]));
    for (cl_uint i = 3; i < 6; ++i) ok(clSetKernelArg(kernel_, i, sizeof n, &n));
    const bool flat = kernel == "coalesced";  // a block of 1024 x 1, as the CUDA kernel
    global_[0] = flat ? size * 32 : size;
    global_[1] = flat ? size / 32 : size;
    local_[0] = flat ? 1024 : 32;
    local_[1] = flat ? 1 : 32;
    run();
    ok(clEnqueueReadBuffer(queue_, buffers_[2], CL_TRUE, 0, ones.size() * sizeof(float), ones.data(), 0, nullptr,
                           nullptr));
    for (float value : ones) WL_CHECK(value == float(n), "PoCL's product is wrong");
  }

  void run() override {
    ok(clEnqueueNDRangeKernel(queue_, kernel_, 2, nullptr, global_, local_, 0, nullptr, nullptr));
    ok(clFinish(queue_));
  }

 private:
  static void ok(cl_int error) { WL_CHECK(error == CL_SUCCESS, "OpenCL error {}", error); }
  void release() {
    if (kernel_ == nullptr) return;
    for (cl_mem buffer : buffers_) clReleaseMemObject(buffer);
    clReleaseKernel(kernel_);
    kernel_ = nullptr;
  }

  cl_device_id device_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
  cl_mem buffers_[3] = {};
  size_t global_[2] = {}, local_[2] = {};
};

}  // namespace

std::unique_ptr<OpenClPeer> OpenClPeer::create() {
  cl_platform_id platforms[8];
  cl_uint count = 0;
  if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) return nullptr;
  for (cl_uint i = 0; i < count; ++i) {
    char name[256] = {};
    cl_device_id device = nullptr;
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, nullptr);
    if (std::strstr(name, "Portable") != nullptr &&
        clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, nullptr) == CL_SUCCESS)
      return std::make_unique<Pocl>(device);
  }
  return nullptr;
}
#endif

}  // namespace warplens::bench
