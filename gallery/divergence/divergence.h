// SPDX-License-Identifier: Apache-2.0
// What the rungs of divergence/ do: a thread takes `steps(i)` steps of one of two chains of integer arithmetic, chosen
// by `second(i)`, and writes where it ended. All rungs but the last do the same work a thread; what differs is who goes
// which way.
#pragma once
#include "../harness.h"

namespace gallery {

struct Walk {
  int n, steps;
  unsigned* out;
};

__host__ __device__ inline unsigned first_step(unsigned x) { return x * 1664525u + 1013904223u; }
__host__ __device__ inline unsigned second_step(unsigned x) { return x * 22695477u ^ 0x5bd1e995u; }

/// Path and length of a thread's walk.
struct Path {
  bool second;
  int steps;
};

inline unsigned end_of(Path p, unsigned x) {
  for (int s = 0; s < p.steps; ++s) x = p.second ? second_step(x) : first_step(x);
  return x;
}

/// `path(i, steps)` is what thread i must do.
template <class Launch, class PathOf>
int run_walks(int argc, char** argv, const char* name, Launch launch, PathOf path) {
  Run run(argc, argv, name);
  for (const int n : {64, 1000, 1}) {
    Buffer<unsigned> out(n);
    launch(Walk{n, 40, out.get()});
    run.finished(std::to_string(n));
    std::vector<double> want(n);
    for (int i = 0; i < n; ++i) want[i] = end_of(path(i, 40), i);
    run.compare(std::to_string(n), out.host(), want, 0);
  }
  if (run.measures()) {
    const int n = run.size(1 << 20, 1 << 14), steps = 2048;
    Buffer<unsigned> out(n);
    run.time(n, double(n) * steps, "Gstep/s", [&] { launch(Walk{n, steps, out.get()}); });
    run.compare_full_size(out.host(), 10000, 0, [&](size_t i) { return end_of(path(int(i), steps), unsigned(i)); });
  }
  return run.exit_code();
}

}  // namespace gallery
