// SPDX-License-Identifier: Apache-2.0
// What the rungs of banks/ do: a warp fills 32 x 32 (or more) words of shared memory with known numbers and reads them
// by a pattern, `rounds` times, adding up. The sum of each lane is checked; what differs between rungs is the passes a
// load takes.
#pragma once
#include "../harness.h"

namespace gallery {

/// `kernel(int rounds, float* out)`, launched with blocks of 32 x 8 threads; out has one number a thread. `word(lane,
/// step)` is the word that a lane must have read in a step of a round (0..31); word w holds the number w.
template <class Kernel, class Word>
int run_banks(int argc, char** argv, const char* name, Kernel kernel, Word word) {
  Run run(argc, argv, name);
  const int blocks = run.timing() ? 132 * 8 : 2, rounds = run.timing() ? run.size(512) : 2;
  Buffer<float> out(size_t(blocks) * 256);
  const auto launch = [&] { kernel<<<blocks, dim3(32, 8)>>>(rounds, out.get()); };
  launch();
  run.finished("sums");
  std::vector<double> want(size_t(blocks) * 256);
  for (size_t i = 0; i < want.size(); ++i)
    for (int step = 0; step < 32; ++step) want[i] += double(word(int(i % 32), step)) * rounds;
  run.compare("sums", out.host(), want, 1e-3 * rounds * 32 * 1024);
  run.time(rounds, 32.0 * 128 * rounds * 8 * blocks, "GB/s", launch);
  return run.exit_code();
}

}  // namespace gallery
