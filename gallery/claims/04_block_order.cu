// SPDX-License-Identifier: Apache-2.0
// Idea: in which order do blocks start? Each takes a ticket.
// Change: none, an experiment of its own.
// Expected: every ticket once, but not in the order of the blocks' numbers. The figure: how many blocks did not get
// the ticket of their own number.
// Measured on an H200: 14.8 us, 4094 blocks out of order at size 4096.
#include <numeric>

#include "claims.h"

__global__ void block_order(int* counter, int* ticket) {
  if (threadIdx.x == 0) ticket[blockIdx.x] = atomicAdd(counter, 1);
}

int main(int argc, char** argv) {
  gallery::Run run(argc, argv, "claims/04_block_order");
  const int blocks = run.measures() ? run.size(4096, 1024) : 200;
  gallery::Buffer<int> counter(std::vector<int>{0}), ticket(blocks);
  block_order<<<blocks, 128>>>(counter.get(), ticket.get());
  run.finished("tickets");
  std::vector<int> got = ticket.host();
  int elsewhere = 0;
  for (int b = 0; b < blocks; ++b) elsewhere += got[b] != b;
  std::sort(got.begin(), got.end());
  std::vector<double> want(blocks);
  std::iota(want.begin(), want.end(), 0);
  run.compare("every ticket once", got, want, 0);
  gallery::report_seen(run, "claims/04_block_order", gallery::is_counting(argc, argv), blocks, elsewhere,
                       "blocks out of order", [&] { block_order<<<blocks, 128>>>(counter.get(), ticket.get()); });
  return run.exit_code();
}
