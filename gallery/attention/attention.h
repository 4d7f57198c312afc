// SPDX-License-Identifier: Apache-2.0
// The attention that the rungs of attention/ compute: o = softmax(scale q k^T) v for each head; q, k, v, o are
// heads x length x 64 floats. `weights`: heads x length x length floats for those that write the matrix of weights.
#pragma once
#include "../harness.h"

namespace gallery {

constexpr int kRow = 64;

struct Attention {
  int heads, length;
  float scale;
  const float *q, *k, *v;
  float *weights, *o;
};

/// One row of the result in double precision, scale 2: for a row of q and its head's k and v.
inline std::vector<double> attention_row(const float* q, const float* k, const float* v, int length) {
  std::vector<double> row(kRow), weight(length);
  double total = 0;
  for (int t = 0; t < length; ++t) {
    double dot = 0;
    for (int d = 0; d < kRow; ++d) dot += double(q[d]) * k[size_t(t) * kRow + d];
    total += weight[t] = std::exp(2.0 * dot);
  }
  for (int t = 0; t < length; ++t)
    for (int d = 0; d < kRow; ++d) row[d] += weight[t] / total * v[size_t(t) * kRow + d];
  return row;
}

template <class Launch>
int run_attention(int argc, char** argv, const char* name, Launch launch) {
  Run run(argc, argv, name);
  const int shapes[][3] = {{1, 64, 0}, {2, 100, 0}, {1, 33, 0}, {1, 1, 0}, {1, 40, 1}};
  for (const auto& [heads, length, shift] : shapes) {
    const size_t count = size_t(heads) * length * kRow;
    const std::vector<float> q = random_floats(count, 1), k = random_floats(count, 2), v = random_floats(count, 3);
    Buffer<float> dq(q, shift), dk(k, shift), dv(v, shift), o(count, shift), weights(size_t(heads) * length * length);
    launch(Attention{heads, length, 2.0f, dq.get(), dk.get(), dv.get(), weights.get(), o.get()});
    const std::string what =
        std::to_string(heads) + " heads of " + std::to_string(length) + (shift != 0 ? " shifted" : "");
    run.finished(what);
    std::vector<double> want;
    for (size_t i = 0; i < size_t(heads) * length; ++i) {
      const size_t head = i / length * length * kRow;
      const std::vector<double> row = attention_row(q.data() + i * kRow, k.data() + head, v.data() + head, length);
      want.insert(want.end(), row.begin(), row.end());
    }
    run.compare(what, o.host(), want, 1e-5);
  }
  if (run.measures()) {
    const int length = run.size(4096, 256), heads = 16;
    const size_t count = size_t(heads) * length * kRow;
    const std::vector<float> q = random_floats(count, 1), k = random_floats(count, 2), v = random_floats(count, 3);
    Buffer<float> dq(q), dk(k), dv(v), o(count);
    Buffer<float> weights(size_t(heads) * length * length);
    run.time(length, 4.0 * heads * length * length * kRow, "GFLOP/s",
             [&] { launch(Attention{heads, length, 2.0f, dq.get(), dk.get(), dv.get(), weights.get(), o.get()}); });
    run.compare_full_size(o.host(), 500, 1e-5, [&](size_t at) {
      const size_t row = at / kRow;
      return attention_row(q.data() + row * kRow, k.data() + row / length * length * kRow,
                           v.data() + row / length * length * kRow, length)[at % kRow];
    });
  }
  return run.exit_code();
}

}  // namespace gallery
