// SPDX-License-Identifier: Apache-2.0
// The histogram that the rungs of histogram/ compute: values in [lower, upper) fall into `bins` even bins; others count
// in the first or last bin. `counts` is zero before each launch. Timed with 8192 bins of [0, 65536), uniform values.
#pragma once
#include "../harness.h"

namespace gallery {

struct Histogram {
  int n;
  const int* in;
  int lower, upper, bins;
  int* counts;
};

/// The bin of a value; what every rung must agree with.
__host__ __device__ inline int bin_of(const Histogram& p, int value) {
  const int v = value < p.lower ? p.lower : value >= p.upper ? p.upper - 1 : value;
  return static_cast<int>((static_cast<long long>(v) - p.lower) * p.bins / (static_cast<long long>(p.upper) - p.lower));
}

inline std::vector<int> random_values(size_t count, bool skewed) {
  std::vector<int> values(count);
  unsigned state = 7;
  for (int& v : values) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<int>(state >> 8 & 0xffff);
    if (skewed) v &= static_cast<int>((state >> 11) & (state >> 12));
  }
  return values;
}

template <class Launch>
int run_histogram(int argc, char** argv, const char* name, Launch launch, int full_bins = 8192) {
  Run run(argc, argv, name);
  struct Case {
    int n, lower, upper, bins;
    bool skewed;
    int shift = 0;
  };
  for (const Case& c :
       {Case{10000, 0, 65536, 256, false}, Case{10007, 0, 65536, 256, true}, Case{5000, 100, 40000, 1000, false},
        Case{20000, 0, 65536, 8192, true}, Case{33, -5, 70000, 7, false}, Case{1, 0, 65536, 1, false},
        Case{0, 0, 10, 10, false}, Case{10007, 0, 65536, 256, false, 1}}) {
    const std::vector<int> values = random_values(c.n, c.skewed);
    Buffer<int> in(values, c.shift), counts(c.bins);
    must(cudaMemset(counts.get(), 0, c.bins * sizeof(int)), "cudaMemset");
    const Histogram p{c.n, in.get(), c.lower, c.upper, c.bins, counts.get()};
    launch(p);
    const std::string what =
        std::to_string(c.n) + " in " + std::to_string(c.bins) + " bins" + (c.shift != 0 ? " shifted" : "");
    run.finished(what);
    std::vector<double> want(c.bins);
    for (const int v : values) want[bin_of(p, v)] += 1;
    run.compare(what, counts.host(), want, 0);
  }
  if (run.measures()) {
    const int n = run.size(1 << 26, 1 << 20);
    const std::vector<int> values = random_values(n, false);
    Buffer<int> in(values), counts(full_bins);
    run.time(n, 4.0 * n, "GB/s", [&] {
      must(cudaMemsetAsync(counts.get(), 0, full_bins * sizeof(int)), "cudaMemset");
      launch(Histogram{n, in.get(), 0, 65536, full_bins, counts.get()});
    });
    std::vector<double> want(full_bins);
    for (const int v : values) want[size_t(v) * full_bins / 65536] += 1;
    run.compare_full_size(counts.host(), full_bins, 0, [&](size_t bin) { return want[bin]; });
  }
  return run.exit_code();
}

}  // namespace gallery
