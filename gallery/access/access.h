// SPDX-License-Identifier: Apache-2.0
// What the rungs of access/ do: thread i reads the word at `index(i)` and writes it, plus one, to out[i]: what the read
// costs is all that differs. The figure counts
// the bytes of `in` and `out` that a thread asks for (`bytes`; row pointers not counted): 8 if it reads one word.
// `spread`: the words of `in` a thread needs at most (stride 32 walks over 32 n words).
#pragma once
#include "../harness.h"

namespace gallery {

struct Access {
  int n;
  const float* in;
  float* out;
  const float* const* rows;  // rows[r] = in + 1024 r, for r < row_count(n)
};

/// Rows of 1024 words; `in` holds all of the last one.
__host__ __device__ inline int row_count(int n) { return (n + 1023) / 1024; }

/// Runs a rung whose thread i must write `value(in, i, n)`. `launches`: how many are timed together.
template <class Launch, class Value>
int run_values(int argc, char** argv, const char* name, int spread, Launch launch, Value value, int bytes = 8,
               int launches = 1) {
  Run run(argc, argv, name);
  const auto words = [spread](int n) { return size_t(row_count(n)) * 1024 * spread + 64; };
  const auto table = [](int n, const float* in) {
    std::vector<const float*> rows(row_count(n));
    for (size_t r = 0; r < rows.size(); ++r) rows[r] = in + 1024 * r;
    return rows;
  };
  const int sizes[][2] = {{1024, 0}, {4096, 0}, {2048, 0}, {1500, 0}, {999, 0}, {1, 0}, {1001, 1}};  // shifted by
  for (const auto& [n, shift] : sizes) {
    const std::vector<float> in = random_floats(words(n), 1);
    Buffer<float> from(in, shift), to(n, shift);
    Buffer<const float*> rows(table(n, from.get()));
    launch(Access{n, from.get(), to.get(), rows.get()});
    const std::string what = std::to_string(n) + (shift != 0 ? " shifted" : "");
    run.finished(what);
    std::vector<double> want(n);
    for (int i = 0; i < n; ++i) want[i] = value(in.data(), i, n);
    run.compare(what, to.host(), want, 0);
  }
  if (run.measures()) {
    const int n = run.size(1 << 24, 1 << 16);
    const std::vector<float> host = random_floats(words(n), 1);
    Buffer<float> in(host), out(n);
    Buffer<const float*> rows(table(n, in.get()));
    run.time(n, double(bytes) * n * launches, "GB/s", [&] {
      for (int l = 0; l < launches; ++l) launch(Access{n, in.get(), out.get(), rows.get()});
    });
    run.compare_full_size(out.host(), n, 0, [&](size_t i) { return value(host.data(), int(i), n); });
  }
  return run.exit_code();
}

template <class Launch, class Index>
int run_access(int argc, char** argv, const char* name, int spread, Launch launch, Index index) {
  return run_values(argc, argv, name, spread, launch,
                    [&](const float* in, int i, int n) { return in[index(i, n)] + 1.0f; });
}

}  // namespace gallery
