// SPDX-License-Identifier: Apache-2.0
// The matrix product that the rungs of matmul/ and corner_turning/ compute: C = alpha op(A) B + beta C, row-major,
// fp32. op(A) = A (m x k), or A transposed with A stored k x m. Every rung must be right for every size, alpha and beta
// (a product without elements is not launched), and must not read C when beta is 0: C is not-a-number then.
#pragma once
#include "../harness.h"

namespace gallery {

struct Matmul {
  int m, n, k;
  float alpha;
  const float* a;
  const float* b;
  float beta;
  float* c;
};

enum class StoredA { MxK, KxM };

/// Runs a rung: `launch(Matmul)` starts its kernel on the default stream. `full`: the size at which it is timed.
template <class Launch>
int run_matmul(int argc, char** argv, const char* name, Launch launch, StoredA stored = StoredA::MxK, int full = 4096) {
  Run run(argc, argv, name);
  const int shapes[][4] = {{64, 64, 64, 0}, {33, 65, 17, 0}, {130, 100, 70, 0}, {1, 1, 1, 0},
                           {1, 129, 40, 0}, {129, 1, 3, 0},  {5, 7, 0, 0},      {64, 64, 64, 1}};
  for (const auto& [m, n, k, shift] : shapes) {
    for (const auto [alpha, beta] : {std::pair{0.5f, 3.0f}, std::pair{1.0f, 0.0f}}) {
      const std::vector<float> a = random_floats(size_t(m) * k, 1), b = random_floats(size_t(k) * n, 2),
                               c = beta != 0 ? random_floats(size_t(m) * n, 3) : std::vector<float>(size_t(m) * n, NAN);
      Buffer<float> da(a, shift), db(b, shift), dc(c, shift);
      launch(Matmul{m, n, k, alpha, da.get(), db.get(), beta, dc.get()});
      const std::string what = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) +
                               (beta != 0 ? " alpha beta" : "") + (shift != 0 ? " shifted" : "");
      run.finished(what);
      std::vector<double> want(size_t(m) * n);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          double sum = 0;
          for (int l = 0; l < k; ++l)
            sum += double(a[stored == StoredA::MxK ? size_t(i) * k + l : size_t(l) * m + i]) * b[size_t(l) * n + j];
          want[size_t(i) * n + j] = alpha * sum + (beta != 0 ? beta * double(c[size_t(i) * n + j]) : 0);
        }
      run.compare(what, dc.host(), want, 1e-6 * (k + 4));
    }
  }
  if (run.measures()) {
    const int n = run.size(full, 256);
    const std::vector<float> a = random_floats(size_t(n) * n, 1), b = random_floats(size_t(n) * n, 2);
    Buffer<float> da(a), db(b), dc(size_t(n) * n);
    run.time(n, 2.0 * n * n * n, "GFLOP/s", [&] { launch(Matmul{n, n, n, 1, da.get(), db.get(), 0, dc.get()}); });
    run.compare_full_size(dc.host(), 2000, 1e-6 * (n + 4), [&](size_t at) {
      const size_t i = at / n, j = at % n;
      double sum = 0;
      for (size_t l = 0; l < size_t(n); ++l)
        sum += double(a[stored == StoredA::MxK ? i * n + l : l * n + i]) * b[l * n + j];
      return sum;
    });
  }
  return run.exit_code();
}

}  // namespace gallery
