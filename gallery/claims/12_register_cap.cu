// SPDX-License-Identifier: Apache-2.0
// Idea: a cap on registers that pays: threads wait for memory, with numbers in hand that they need only afterwards.
// Change: a warp reads 256 lines in random order, each telling the next, between loading 80 numbers a thread and adding
// them up; form 1 as the compiler likes it, form 2 with at most 32 registers, so that the numbers are spilled once and
// more warps wait at a time.
// Expected bottleneck: the latency of memory; more warps hide more of it.
// Measured on an H200: 523.5 us, 132 Gload/s (12_register_cap1); 458.6 us, 151 Gload/s (12_register_cap2) at size
//   270336.
#include "claims.h"

constexpr int kHeld = 80, kReads = 256;

__host__ __device__ inline int first_line(int i, int lines) { return int(i / 32 * 40503u % unsigned(lines)); }

__device__ __forceinline__ void wait_and_add(const int* next, int lines, const float* in, int n, float* out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float held[kHeld];
#pragma unroll
  for (int k = 0; k < kHeld; ++k) held[k] = reinterpret_cast<const volatile float*>(in)[(i + k) & 255];
  int at = first_line(i, lines);
#pragma unroll 1
  for (int r = 0; r < kReads; ++r) at = next[32 * at + i % 32];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kHeld; ++k) sum += held[k] * float((at >> k % 8) & 1);
  if (i < n) out[i] = sum;
}

__global__ void __launch_bounds__(256)
    register_cap_none(const int* next, int lines, const float* in, int n, float* out) {
  wait_and_add(next, lines, in, n, out);
}

__global__ void __launch_bounds__(256, 8)
    register_cap_32(const int* next, int lines, const float* in, int n, float* out) {
  wait_and_add(next, lines, in, n, out);
}

/// The line after line k: a generator of full period, so that every read goes far away.
inline int after(int k, int lines) { return int((unsigned(k) * 1664525u + 1013904223u) % unsigned(lines)); }

template <class Kernel>
int run_cap(int argc, char** argv, const char* name, Kernel kernel) {
  gallery::Run run(argc, argv, name);
  std::vector<float> numbers(256);
  for (int k = 0; k < 256; ++k) numbers[k] = static_cast<float>(k % 5);
  gallery::Buffer<float> in(numbers);
  const auto one = [&](int lines, int n, const std::string& what, bool measure) {
    std::vector<int> next(size_t(lines) * 32);
    for (size_t k = 0; k < next.size(); ++k) next[k] = after(int(k / 32), lines);
    gallery::Buffer<int> table(next);
    gallery::Buffer<float> out(n);
    const auto launch = [&] { kernel<<<(n + 255) / 256, 256>>>(table.get(), lines, in.get(), n, out.get()); };
    measure ? run.time(n, double(n) * kReads, "Gload/s", launch) : launch();
    run.finished(what);
    std::vector<double> want(n);
    for (int i = 0; i < n; ++i) {
      int at = first_line(i, lines);
      for (int r = 0; r < kReads; ++r) at = after(at, lines);
      for (int k = 0; k < kHeld; ++k) want[i] += numbers[(i + k) & 255] * ((at >> k % 8) & 1);
    }
    run.compare(what, out.host(), want, 0);
  };
  one(1 << 10, 1000, "1000", false);
  if (run.measures()) one(gallery::is_counting(argc, argv) ? 1 << 12 : 1 << 20, run.size(132 * 2048, 1 << 12), "full size", true);
  return run.exit_code();
}

int main(int argc, char** argv) {
  return run_cap(argc, argv, "claims/12_register_cap1", register_cap_none) |
         run_cap(argc, argv, "claims/12_register_cap2", register_cap_32);
}
