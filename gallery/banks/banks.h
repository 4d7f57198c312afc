// SPDX-License-Identifier: Apache-2.0
// What the rungs of banks/ do: a warp fills 32 x 32 (or more) words of shared memory with known numbers and reads them
// by a pattern, `rounds` times, adding up step + 1 times what step 0, 1, ... 31 gave, so that the sum tells in which
// order the words were read. The sum of each lane is checked; what differs between rungs is the passes a load takes.
#pragma once
#include "../harness.h"

namespace gallery {

/// `kernel(int rounds, float* out)`, launched with blocks of 32 x 8 threads; out has one number a thread. `word(lane,
/// step)` is the word that a lane must have read in a step of a round (0..31), or the sum of several; word w holds the
/// number w. `bytes`: what a lane reads in a step.
template <class Kernel, class Word>
int run_banks(int argc, char** argv, const char* name, Kernel kernel, Word word, int bytes = 4) {
  Run run(argc, argv, name);
  Buffer<float> few(2 * 256);
  kernel<<<2, dim3(32, 8)>>>(2, few.get());
  run.finished("sums");
  std::vector<double> want(2 * 256);
  for (size_t i = 0; i < want.size(); ++i)
    for (int step = 0; step < 32; ++step) want[i] += double(word(int(i % 32), step)) * (step + 1) * 2;
  run.compare("sums", few.host(), want, 0);  // whole numbers below 2^24 (of 16-byte loads even ones below 2^25): exact
  if (run.measures()) {
    const int blocks = 132 * 8, rounds = run.size(512, 2);
    Buffer<float> out(size_t(blocks) * 256);
    run.time(rounds, 32.0 * 32 * bytes * rounds * 8 * blocks, "GB/s",
             [&] { kernel<<<blocks, dim3(32, 8)>>>(rounds, out.get()); });
  }
  return run.exit_code();
}

}  // namespace gallery
