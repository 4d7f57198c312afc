// SPDX-License-Identifier: Apache-2.0
// What all rungs share: buffers, inputs, checking, timing, the three ways to run a rung.
//
//   rung              verify at small sizes against double precision, odd ones too, and empty ones where the topic has
//                     them; exit code 1 when anything is wrong
//   rung time [size]  verify, then time at full size: one line "name,size,median_us,min_us,figure,unit" on standard
//                     output; then compare elements spread over what the timed launches left
//   rung count [size] verify, then run once, at a size small enough to count, between cudaProfilerStart and
//                     cudaProfilerStop, which profilers and `warplens run` heed (--profile-from-start off); one line
//                     "name,size" on standard output; then compare as after timing
//
// A rung is one .cu file of at most 120 lines that holds its kernel and hands a launch function to its topic's header
// (matmul/matmul.h and so on). The same file is built by `warplens run` and by nvcc. Rungs work on the default stream.
// A rung that has several forms runs them one after the other, each with a name and lines of its own.
#pragma once
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace gallery {

/// Ends the program with exit code 2: a call that must succeed did not.
inline void must(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

/// Device memory of `count` elements, filled with `host` or, without one, with bytes that make every float
/// not-a-number, so that an element which nothing wrote is seen. `shift`: elements left out in front, so that the first
/// one is aligned to no more than its type.
template <class T>
class Buffer {
 public:
  explicit Buffer(size_t count, size_t shift = 0) : count_(count), shift_(shift) {
    must(cudaMalloc(&data_, std::max<size_t>(count + shift, 1) * sizeof(T)), "cudaMalloc");
    must(cudaMemset(data_, 0xff, std::max<size_t>(count + shift, 1) * sizeof(T)), "cudaMemset");
  }
  explicit Buffer(const std::vector<T>& host, size_t shift = 0) : Buffer(host.size(), shift) {
    if (!host.empty())
      must(cudaMemcpy(get(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }
  T* get() const { return data_ + shift_; }
  std::vector<T> host() const {
    std::vector<T> copy(count_);
    if (count_ != 0) must(cudaMemcpy(copy.data(), get(), count_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return copy;
  }

 private:
  T* data_ = nullptr;
  size_t count_, shift_;
};

/// Whether vectors of type V may be loaded from `p`.
template <class V>
__host__ __device__ inline bool aligned_for(const void* p) {
  return reinterpret_cast<uintptr_t>(p) % alignof(V) == 0;
}

/// Numbers in [-0.5, 0.5), the same for the same seed on every machine.
inline std::vector<float> random_floats(size_t count, unsigned seed) {
  std::vector<float> numbers(count);
  unsigned state = seed * 2654435761u + 12345u;
  for (float& x : numbers) x = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f - 0.5f;
  return numbers;
}

/// Rungs count in 32 bits: index plus grid must stay below 2^31.
constexpr long kMostSize = 1l << 30;

/// One rung's run: collects what was wrong, prints, times.
class Run {
 public:
  Run(int argc, char** argv, const char* name) : name_(name) {
    const std::string mode = argc > 1 ? argv[1] : "";
    timing_ = mode == "time";
    counting_ = mode == "count";
    char* end = nullptr;
    const long size = argc > 2 ? std::strtol(argv[2], &end, 10) : 0;
    if ((argc > 1 && !measures()) || argc > 3 || (argc > 2 && (*end != 0 || size < 1 || size > kMostSize))) {
      std::fprintf(stderr, "usage: %s [time|count [size]], size 1 to %ld\n", name, kMostSize);
      std::exit(2);
    }
    size_ = static_cast<int>(size);
  }
  /// After verifying, the rung is to be timed or counted: `time` and `compare_full_size` do something.
  bool measures() const { return timing_ || counting_; }
  /// The size typed, else that at which the rung is timed, or counted.
  int size(int timed, int counted) const { return size_ != 0 ? size_ : counting_ ? counted : timed; }

  /// Launches are over: their errors show here.
  void finished(const std::string& what) {
    must(cudaGetLastError(), (name_ + " " + what + ": launch").c_str());
    must(cudaDeviceSynchronize(), (name_ + " " + what + ": run").c_str());
  }
  /// Compares with the reference; not-a-number is wrong.
  template <class T>
  void compare(const std::string& what, const std::vector<T>& got, const std::vector<double>& want, double allowed) {
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      const double error = std::fabs(static_cast<double>(got[i]) - want[i]);
      if (!(error <= worst)) worst = error, at = i;
      if (!(error <= worst)) break;  // not-a-number
    }
    const bool right = worst <= allowed;
    wrong_ |= !right;
    if (!right || !measures()) {
      std::fprintf(right ? stdout : stderr, "%s %s: largest error %.2g, allowed %.2g: %s\n", name_.c_str(),
                   what.c_str(), worst, allowed, right ? "right" : "WRONG");
    }
    if (!right && at < want.size())
      std::fprintf(stderr, "  element %zu: %.9g instead of %.9g\n", at, static_cast<double>(got[at]), want[at]);
  }
  /// Median of 15 launches after 3, by events; work / time is the figure: bytes give GB/s, operations GFLOP/s. When
  /// counting, one launch.
  template <class Launch>
  void time(size_t size, double work, const char* unit, Launch launch) {
    if (!measures() || wrong_) return;
    if (counting_) return count(size, launch);
    const std::vector<float> us = sorted_us(launch);
    report(size, us, work / us[us.size() / 2] / 1e3, unit);
  }
  /// The same for things done one after the other, `things` a launch: the figure is nanoseconds for one.
  template <class Launch>
  void time_each(size_t size, double things, const char* unit, Launch launch) {
    if (!measures() || wrong_) return;
    if (counting_) return count(size, launch);
    const std::vector<float> us = sorted_us(launch);
    report(size, us, us[us.size() / 2] * 1e3 / things, unit);
  }
  /// After `time`: at least `samples` elements, evenly spread, of what the launches left (all, if there are no more).
  /// `want(i)` is the right element i.
  template <class T, class Want>
  void compare_full_size(const std::vector<T>& got, size_t samples, double allowed, Want want) {
    if (!measures() || wrong_) return;
    const size_t apart = std::max<size_t>(got.size() / samples, 1);
    const size_t step =
        apart - (apart + 1) % 2;  // odd: all lanes of a warp and all columns of a matrix have their turn
    std::vector<T> some;
    std::vector<double> wanted;
    for (size_t i = 0; i < got.size(); i += step) some.push_back(got[i]), wanted.push_back(want(i));
    compare("full size, elements " + std::to_string(step) + " apart", some, wanted, allowed);
  }
  int exit_code() const { return wrong_ ? 1 : 0; }

 private:
  template <class Launch>
  void count(size_t size, Launch launch) {
    must(cudaProfilerStart(), "cudaProfilerStart");
    launch();
    must(cudaGetLastError(), "launch");
    must(cudaDeviceSynchronize(), "run");
    must(cudaProfilerStop(), "cudaProfilerStop");
    std::printf("%s,%zu\n", name_.c_str(), size);
  }
  template <class Launch>
  std::vector<float> sorted_us(Launch launch) {
    cudaEvent_t begin, end;
    must(cudaEventCreate(&begin), "event");
    must(cudaEventCreate(&end), "event");
    std::vector<float> us;
    for (int i = 0; i < 18; ++i) {
      must(cudaEventRecord(begin), "event");
      launch();
      must(cudaEventRecord(end), "event");
      must(cudaEventSynchronize(end), "run");
      float ms = 0;
      must(cudaEventElapsedTime(&ms, begin, end), "event");
      if (i >= 3) us.push_back(ms * 1000);
    }
    must(cudaGetLastError(), "launch");
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    std::sort(us.begin(), us.end());
    return us;
  }
  void report(size_t size, const std::vector<float>& us, double figure, const char* unit) {
    std::printf("%s,%zu,%.2f,%.2f,%.2f,%s\n", name_.c_str(), size, us[us.size() / 2], us[0], figure, unit);
  }

  std::string name_;
  bool timing_ = false, counting_ = false, wrong_ = false;
  int size_ = 0;
};

}  // namespace gallery
