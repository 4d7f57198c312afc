// SPDX-License-Identifier: Apache-2.0
// The transpose that the rungs of transpose/ compute: out[c][r] = in[r][c], fp32, rows x cols, any sizes. A copy of the
// same bytes (Kind::Copy) is what they are measured against.
#pragma once
#include "../harness.h"

namespace gallery {

struct Transpose {
  int rows, cols;
  const float* in;
  float* out;
};

enum class Kind { Transpose, Copy };

template <class Launch>
int run_transpose(int argc, char** argv, const char* name, Launch launch, Kind kind = Kind::Transpose) {
  Run run(argc, argv, name);
  const int shapes[][3] = {{64, 64, 0}, {128, 256, 0}, {33, 65, 0},  {1, 1, 0},
                           {1, 200, 0}, {200, 1, 0},   {130, 67, 0}, {64, 64, 1}};
  for (const auto& [rows, cols, shift] : shapes) {
    const std::vector<float> in = random_floats(size_t(rows) * cols, 1);
    Buffer<float> from(in, shift), to(in.size(), shift);
    launch(Transpose{rows, cols, from.get(), to.get()});
    const std::string what = std::to_string(rows) + "x" + std::to_string(cols) + (shift != 0 ? " shifted" : "");
    run.finished(what);
    std::vector<double> want(in.size());
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c)
        want[kind == Kind::Copy ? size_t(r) * cols + c : size_t(c) * rows + r] = in[size_t(r) * cols + c];
    run.compare(what, to.host(), want, 0);
  }
  if (run.measures()) {
    const int n = run.size(8192, 512);
    const std::vector<float> host = random_floats(size_t(n) * n, 1);
    Buffer<float> in(host), out(size_t(n) * n);
    run.time(n, 8.0 * n * n, "GB/s", [&] { launch(Transpose{n, n, in.get(), out.get()}); });
    run.compare_full_size(out.host(), 1 << 24, 0,
                          [&](size_t at) { return host[kind == Kind::Copy ? at : at % n * n + at / n]; });
  }
  return run.exit_code();
}

}  // namespace gallery
