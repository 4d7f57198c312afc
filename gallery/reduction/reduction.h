// SPDX-License-Identifier: Apache-2.0
// The sum that the rungs of reduction/ compute: *out = x[0] + ... + x[n-1], fp32. `out` is zero before each launch.
#pragma once
#include "../harness.h"

namespace gallery {

struct Sum {
  int n;
  const float* x;
  float* out;
};

/// `full`: the number of elements at which the rung is timed.
template <class Launch>
int run_sum(int argc, char** argv, const char* name, Launch launch, int full = 1 << 26) {
  Run run(argc, argv, name);
  Buffer<float> out(1);
  const int sizes[][2] = {{1, 0},     {31, 0},    {32, 0}, {1000, 0}, {4096, 0},
                          {10007, 0}, {70000, 0}, {0, 0},  {3001, 1}};  // shifted by
  for (const auto& [n, shift] : sizes) {
    const std::vector<float> x = random_floats(n, 1);
    Buffer<float> dx(x, shift);
    must(cudaMemset(out.get(), 0, sizeof(float)), "cudaMemset");
    launch(Sum{n, dx.get(), out.get()});
    const std::string what = std::to_string(n) + (shift != 0 ? " shifted" : "");
    run.finished(what);
    double sum = 0;
    for (const float v : x) sum += v;
    run.compare(what, out.host(), {sum}, 1e-4 + 1e-8 * n);
  }
  if (run.measures()) {
    const int n = run.size(full, 1 << 20);
    const std::vector<float> host = random_floats(n, 1);
    Buffer<float> x(host);
    run.time(n, 4.0 * n, "GB/s", [&] {
      must(cudaMemsetAsync(out.get(), 0, sizeof(float)), "cudaMemset");
      launch(Sum{n, x.get(), out.get()});
    });
    double sum = 0;
    for (const float v : host) sum += v;
    run.compare_full_size(out.host(), 1, 1e-4 + 1e-7 * n, [&](size_t) { return sum; });
  }
  return run.exit_code();
}

}  // namespace gallery
