// SPDX-License-Identifier: Apache-2.0
// The kernels of include/warplens/kernels.cuh at full size on a GPU: verified against double precision (or a plain
// kernel), then timed beside what a user would call instead: cuBLAS, CUB, cudaMemcpyAsync. For a machine with a GPU and
// a CUDA toolkit; `scripts/measure_gpu kernels` builds and runs it and writes results/<gpu>/kernels.json.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -Iinclude gallery/kernels/versus_libraries.cu -lcublas -o versus && ./versus >
//   versus.csv
//
// Columns: what, size, ours (median and least microseconds), library (the same), figure of ours and of the library,
// unit, the library's name, largest error. Each runs 15 times after 3, the library first.
#include <cublas_v2.h>

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <functional>
#include <warplens/kernels.cuh>

#include "../harness.h"

namespace {

using namespace warplens::kernels;
using gallery::must;

/// Numbers without relation between neighbouring i and seeds: the seed joins after i has been mixed, or hash(i, 2)
/// would be hash(i + 1, 1) and B of a product A moved by one.
__device__ unsigned hash(unsigned long long i, unsigned seed) {
  unsigned long long z = i * 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 31 ^ seed * 0xD1B54A32D192ED03ull) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 29) * 0x94D049BB133111EBull;
  return static_cast<unsigned>(z >> 32);
}
__global__ void fill_floats(float* x, size_t n, unsigned seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(blockDim.x) * gridDim.x)
    x[i] = (hash(i, seed) >> 8) / 16777216.0f - 0.5f;
}
/// Distributions of [0, 65536): 0 uniform, 1 all equal, 2 skewed to few bits set.
__global__ void fill_values(int* x, size_t n, int kind) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(blockDim.x) * gridDim.x) {
    const unsigned a = hash(i, 1), b = hash(i, 2), c = hash(i, 3);
    x[i] = kind == 0 ? a & 0xffff : kind == 1 ? 12345 : a & b & c & 0xffff;
  }
}
__device__ void raise(double* worst, double error) {
  if (!(error < 1e30)) error = 1e30;  // not-a-number too
  atomicMax(reinterpret_cast<unsigned long long*>(worst), static_cast<unsigned long long>(__double_as_longlong(error)));
}
/// One block an element, chosen by hash.
__global__ void check_product(sgemm_detail::Problem p, bool k_major, double* worst) {
  __shared__ double parts[128];
  const int i = hash(blockIdx.x, 5) % p.m, j = hash(blockIdx.x, 6) % p.n;
  double sum = 0;
  for (int l = threadIdx.x; l < p.k; l += 128)
    sum += double(k_major ? p.a[l * p.lda + i] : p.a[i * p.lda + l]) * p.b[l * p.ldb + j];
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  sum = 0;
  for (const double part : parts) sum += part;
  raise(worst, fabs(sum * p.alpha - p.c[i * p.ldc + j]));
}
__global__ void check_transpose(int rows, int cols, const float* in, const float* out, double* worst) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < size_t(rows) * cols;
       i += size_t(blockDim.x) * gridDim.x)
    if (in[i] != out[i % cols * rows + i / cols]) raise(worst, 1);
}
__global__ void double_sum(const float* x, size_t n, double* out) {
  double sum = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(blockDim.x) * gridDim.x)
    sum += x[i];
  atomicAdd(out, sum);
}
__global__ void plain_histogram(const int* in, size_t n, int bins, int* counts) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(blockDim.x) * gridDim.x)
    atomicAdd(counts + static_cast<int>(static_cast<long long>(in[i]) * bins / 65536), 1);
}
__global__ void check_counts(const int* got, const int* want, int bins, double* worst) {
  for (int b = threadIdx.x; b < bins; b += blockDim.x) raise(worst, abs(got[b] - want[b]));
}
__global__ void check_attention(int heads, attention_detail::Problem p, int d, double scale, double* worst) {
  extern __shared__ double weights[];
  __shared__ double total;
  const long long head = hash(blockIdx.x, 7) % heads, row = hash(blockIdx.x, 8) % p.queries;
  for (int t = threadIdx.x; t < p.keys; t += blockDim.x) {
    double dot = 0;
    for (int e = 0; e < d; ++e) dot += double(p.q[(head * p.queries + row) * d + e]) * p.k[(head * p.keys + t) * d + e];
    weights[t] = exp(dot * scale);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    total = 0;
    for (int t = 0; t < p.keys; ++t) total += weights[t];
  }
  __syncthreads();
  for (int e = threadIdx.x; e < d; e += blockDim.x) {
    double sum = 0;
    for (int t = 0; t < p.keys; ++t) sum += weights[t] * p.v[(head * p.keys + t) * d + e];
    raise(worst, fabs(sum / total - p.o[(head * p.queries + row) * d + e]));
  }
}
__global__ void copy_vectors(const float4* in, float4* out) {
  const size_t i = blockIdx.x * size_t(256) + threadIdx.x;
  out[i] = in[i];
}

using Work = std::function<void()>;

class Comparison {
 public:
  Comparison() {
    must(cudaMalloc(&worst_, sizeof(double)), "cudaMalloc");
    must(cudaEventCreate(&begin_), "event");
    must(cudaEventCreate(&end_), "event");
    std::printf("what,size,us,us_min,library_us,library_us_min,figure,library_figure,unit,library,error\n");
  }
  /// `check` raises the number it is given to the largest error; `work` units, `allowed` error.
  void row(const std::string& what, size_t size, double work, const char* unit, const Work& ours,
           const char* library_name, const Work& library, const std::function<void(double*)>& check, double allowed) {
    must(cudaMemset(worst_, 0, sizeof(double)), "cudaMemset");
    ours();
    check(worst_);
    double worst = 0;
    must(cudaMemcpy(&worst, worst_, sizeof(double), cudaMemcpyDeviceToHost), "check");
    if (!(worst <= allowed))
      std::fprintf(stderr, "%s %zu: error %g, allowed %g\n", what.c_str(), size, worst, allowed), ++wrong_;
    const std::vector<double> b = library ? times(library) : std::vector<double>(), a = times(ours);
    must(cudaGetLastError(), what.c_str());
    std::printf("%s,%zu,%.2f,%.2f,", what.c_str(), size, a[7], a[0]);
    if (library) std::printf("%.2f,%.2f,%.2f,%.2f,", b[7], b[0], work / a[7] / 1e3, work / b[7] / 1e3);
    if (!library) std::printf(",,%.2f,,", work / a[7] / 1e3);
    std::printf("%s,%s,%.3g\n", unit, library_name, worst);
    std::fflush(stdout);
  }
  int wrong() const { return wrong_; }

 private:
  /// 15 times after 3, in order.
  std::vector<double> times(const Work& work) {
    std::vector<double> all;
    for (int i = 0; i < 18; ++i) {
      const double us = time(work);
      if (i >= 3) all.push_back(us);
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  double time(const Work& work) {
    must(cudaEventRecord(begin_), "event");
    work();
    must(cudaEventRecord(end_), "event");
    must(cudaEventSynchronize(end_), "run");
    float ms = 0;
    must(cudaEventElapsedTime(&ms, begin_, end_), "event");
    return ms * 1000.0;
  }
  double* worst_ = nullptr;
  cudaEvent_t begin_, end_;
  int wrong_ = 0;
};

float* floats(size_t n, unsigned seed) {
  float* x = nullptr;
  must(cudaMalloc(&x, n * sizeof(float)), "cudaMalloc");
  fill_floats<<<1024, 256>>>(x, n, seed);
  return x;
}

void products(Comparison& c, float* a, float* b, float* out) {
  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) std::exit(2);
  cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH);
  static const float one = 1, zero = 0;
  for (const int n : {1024, 2048, 4095, 4096, 8192}) {
    for (const bool turned : {false, true}) {
      const sgemm_detail::Problem p{n, n, n, 1, a, n, b, n, 0, out, n};
      must(cudaMemset(out, 0xff, size_t(n) * n * 4), "cudaMemset");
      // Row-major C = A B is column-major C^T = B^T A^T.
      c.row(
          turned ? "sgemm_at_b" : "sgemm", n, 2.0 * n * n * n, "GFLOP/s",
          [&] {
            must(turned ? sgemm_at_b(n, n, n, 1, a, n, b, n, 0, out, n) : sgemm(n, n, n, 1, a, n, b, n, 0, out, n),
                 "sgemm");
          },
          "cublasSgemm",
          [&] {
            cublasSgemm(handle, CUBLAS_OP_N, turned ? CUBLAS_OP_T : CUBLAS_OP_N, n, n, n, &one, b, n, a, n, &zero, out,
                        n);
          },
          [&](double* worst) { check_product<<<8192, 128>>>(p, turned, worst); }, 1e-6 * n);
    }
  }
  for (const int n : {8192, 16384}) {
    const Work ours = [&] { must(transpose(n, n, a, n, out, n), "transpose"); };
    const auto check = [&](double* worst) { check_transpose<<<2048, 256>>>(n, n, a, out, worst); };
    const double bytes = 8.0 * n * n;
    c.row(
        "transpose", n, bytes, "GB/s", ours, "cudaMemcpyAsync",
        [&] { cudaMemcpyAsync(b, a, size_t(n) * n * 4, cudaMemcpyDeviceToDevice); }, check, 0);
    c.row(
        "transpose", n, bytes, "GB/s", ours, "vector copy",
        [&] {
          copy_vectors<<<size_t(n) * n / 1024, 256>>>(reinterpret_cast<float4*>(a), reinterpret_cast<float4*>(b));
        },
        check, 0);
    c.row(
        "transpose", n, bytes, "GB/s", ours, "cublasSgeam",
        [&] { cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &one, a, n, &zero, a, n, b, n); }, check, 0);
  }
  c.row(
      "transpose_odd", 16383, 8.0 * 16383 * 16383, "GB/s",
      [&] { must(transpose(16383, 16383, a, 16383, out, 16383), "transpose"); }, "cublasSgeam",
      [&] { cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 16383, 16383, &one, a, 16383, &zero, a, 16383, b, 16383); },
      [&](double* worst) { check_transpose<<<2048, 256>>>(16383, 16383, a, out, worst); }, 0);
  cublasDestroy(handle);
}

void sums(Comparison& c, const float* x, void* scratch) {
  float *workspace, *out;
  double* want;
  must(cudaMalloc(&workspace, kSumWorkspaceBytes), "cudaMalloc");
  must(cudaMemset(workspace, 0, kSumWorkspaceBytes), "cudaMemset");
  must(cudaMalloc(&out, 4), "cudaMalloc");
  must(cudaMalloc(&want, 8), "cudaMalloc");
  for (const size_t n : {size_t(1) << 24, size_t(1) << 26, size_t(1) << 28}) {
    must(cudaMemset(want, 0, 8), "cudaMemset");
    double_sum<<<1024, 256>>>(x, n, want);
    c.row(
        "sum", n, 4.0 * n, "GB/s", [&] { must(sum(x, n, out, workspace, kSumWorkspaceBytes), "sum"); },
        "cub::DeviceReduce::Sum",
        [&] {
          size_t bytes = 64 << 20;
          cub::DeviceReduce::Sum(scratch, bytes, x, out, static_cast<int>(n));
        },
        [&](double* worst) {
          double exact;
          float got;
          must(cudaMemcpy(&exact, want, 8, cudaMemcpyDeviceToHost), "sum");
          must(cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost), "sum");
          const double error = std::fabs(got - exact);
          must(cudaMemcpy(worst, &error, 8, cudaMemcpyHostToDevice), "sum");
        },
        1e-7 * std::sqrt(double(n)) * 100);
  }
}

void histograms(Comparison& c, void* scratch) {
  int *in, *counts, *want;
  const size_t most = size_t(1) << 28;
  must(cudaMalloc(&in, most * 4), "cudaMalloc");
  must(cudaMalloc(&counts, 65536 * 4), "cudaMalloc");
  must(cudaMalloc(&want, 65536 * 4), "cudaMalloc");
  for (int kind = 0; kind < 3; ++kind) {
    fill_values<<<1024, 256>>>(in, most, kind);
    const char* const names[] = {"uniform", "equal", "skewed"};
    for (const int bins : {256, 1000, 8192, 65536}) {
      const size_t n = bins == 65536 ? most / 4 : most;
      must(cudaMemset(want, 0, bins * 4), "cudaMemset");
      plain_histogram<<<1056, 256>>>(in, n, bins, want);
      const std::string what = "histogram_" + std::to_string(bins) + "_" + names[kind];
      const auto check = [&](double* worst) { check_counts<<<1, 1024>>>(counts, want, bins, worst); };
      const Work ours = [&] { must(histogram(in, n, 0, 65536, bins, counts), "histogram"); };
      if (bins == 65536) {
        c.row(
            what, n, 4.0 * n, "GB/s", ours, "global atomics",
            [&] {
              cudaMemsetAsync(want, 0, bins * 4);
              plain_histogram<<<1056, 256>>>(in, n, bins, want);
            },
            check, 0);
        continue;
      }
      c.row(
          what, n, 4.0 * n, "GB/s", ours, "cub::DeviceHistogram::HistogramEven",
          [&] {
            size_t bytes = 64 << 20;
            cub::DeviceHistogram::HistogramEven(scratch, bytes, in, want, bins + 1, 0, 65536, static_cast<int>(n));
          },
          check, 0);
      c.row(
          what + "_clamped", n, 4.0 * n, "GB/s",
          [&] { must(histogram(in, n, 0, 65536, bins, counts, Outside::Clamped), "histogram"); }, "", nullptr, check,
          0);
    }
  }
}

void attentions(Comparison& c, float* q, float* k, float* v, float* o) {
  must(cudaFuncSetAttribute(check_attention, cudaFuncAttributeMaxDynamicSharedMemorySize, 16384 * 8), "check");
  for (const int length : {4096, 4095, 16384}) {
    for (const int d : {64, 128}) {
      const float scale = 3;  // more than 1 / sqrt(d), so that weights differ
      const attention_detail::Problem p{length, length, 0, q, k, v, o};
      c.row(
          "attention_d" + std::to_string(d), length, 64.0 * length * length * d, "GFLOP/s",
          [&] { must(attention(16, length, length, d, scale, q, k, v, o), "attention"); }, "", nullptr,
          [&](double* worst) { check_attention<<<256, 128, length * 8>>>(16, p, d, scale, worst); }, 1e-5);
    }
  }
}

}  // namespace

int main() {
  const size_t n = size_t(1) << 28;
  float *a = floats(n, 1), *b = floats(n, 2), *out = floats(n, 3), *more = floats(size_t(1) << 25, 4);
  void* scratch;
  must(cudaMalloc(&scratch, 64 << 20), "cudaMalloc");
  Comparison comparison;
  products(comparison, a, b, out);
  fill_floats<<<1024, 256>>>(b, n, 2);  // the transposes wrote to it
  attentions(comparison, a, b, more, out);
  sums(comparison, a, scratch);
  cudaFree(a), cudaFree(b), cudaFree(out);
  histograms(comparison, scratch);
  if (comparison.wrong() != 0) std::fprintf(stderr, "%d rows are WRONG\n", comparison.wrong());
  return comparison.wrong() == 0 ? 0 : 1;
}
