// SPDX-License-Identifier: Apache-2.0
// What the rungs of hierarchy/ do: thread i writes out[i], which must be `want(i, rounds)`; where its operands lie
// (constant memory, local memory, registers, carved shared memory) is what differs.
#pragma once
#include "../harness.h"

namespace gallery {

struct Place {
  int n, rounds;
  float* out;
};

/// `want(i, rounds)`: the right out[i]. The figure counts `each` operations a thread and round, of which `unit` tells.
template <class Launch, class Want>
int run_places(int argc, char** argv, const char* name, Launch launch, Want want, int each = 16,
               const char* unit = "Gload/s") {
  Run run(argc, argv, name);
  for (const int n : {256, 1000, 33}) {
    Buffer<float> out(n);
    launch(Place{n, 3, out.get()});
    run.finished(std::to_string(n));
    std::vector<double> all(n);
    for (int i = 0; i < n; ++i) all[i] = want(i, 3);
    run.compare(std::to_string(n), out.host(), all, 1e-5);
  }
  if (run.measures()) {
    const int n = run.size(1 << 20, 1 << 14), rounds = 64;
    Buffer<float> out(n);
    run.time(n, double(n) * rounds * each, unit, [&] { launch(Place{n, rounds, out.get()}); });
    run.compare_full_size(out.host(), 100000, 1e-5, [&](size_t i) { return want(int(i), rounds); });
  }
  return run.exit_code();
}

/// The numbers that rungs read: small, so that sums of a few thousand are exact.
__host__ __device__ inline float number(int k) { return static_cast<float>(k % 7 + 1); }

}  // namespace gallery
