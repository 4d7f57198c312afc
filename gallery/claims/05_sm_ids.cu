// SPDX-License-Identifier: Apache-2.0
// Idea: a thread can ask which SM it runs on: %smid.
// Change: none, an experiment of its own.
// Expected: numbers below the device's count of SMs; with many blocks all of them. The figure: how many were seen.
// Measured on an H200: 25.2 us, 132 SMs seen at size 2112.
#include <set>

#include "claims.h"

__global__ void sm_ids(int* out) {
  int sm;
  asm("mov.u32 %0, %%smid;" : "=r"(sm));
  if (threadIdx.x == 0) out[blockIdx.x] = sm;
}

int main(int argc, char** argv) {
  gallery::Run run(argc, argv, "claims/05_sm_ids");
  int sms = 0;
  gallery::must(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "attribute");
  const int blocks = run.measures() ? run.size(16 * sms, 512) : 200;
  gallery::Buffer<int> out(blocks);
  sm_ids<<<blocks, 1024>>>(out.get());
  run.finished("ids");
  const std::vector<int> got = out.host();
  std::vector<int> in_range;
  for (const int sm : got) in_range.push_back(sm >= 0 && sm < sms);
  run.compare("ids are those of SMs", in_range, std::vector<double>(blocks, 1), 0);
  const double seen = std::set<int>(got.begin(), got.end()).size();
  gallery::report_seen(run, "claims/05_sm_ids", gallery::is_counting(argc, argv), blocks, seen, "SMs seen",
                       [&] { sm_ids<<<blocks, 1024>>>(out.get()); });
  return run.exit_code();
}
