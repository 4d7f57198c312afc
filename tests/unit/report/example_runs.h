// SPDX-License-Identifier: Apache-2.0
// Hand-made records of the two matrix products, n x n with n a multiple of 32 and block 32 x 32. The counts follow from
// the access pattern, and for n = 2048 they are what an H200 counted for the same kernels (see the test of the totals):
//   naive: a warp is 32 rows of one column: A and C 32 sectors a request (ideal 4), B one address (1 sector);
//   coalesced: a warp is one row of 32 columns: A one address (1 sector), B and C 4 sectors.
#pragma once
#include <cstdint>
#include <string>

#include "report/run_record.h"

namespace warplens::report::example {

enum class Product { kNaive, kCoalesced };

/// `source` is the path of a file in which line 5 reads A and B and line 7 updates C; empty: no line information.
inline RunRecord matmul(Product product, uint64_t n, const std::string& source) {
  using events::Access;
  using events::Space;
  const bool naive = product == Product::kNaive, lines = !source.empty();
  RunRecord run;
  run.program = naive ? "matmul_naive.cu" : "matmul_coalesced.cu";
  run.command = {run.program, std::to_string(n)};
  run.gpu = "Test GPU";
  KernelRecord kernel;
  kernel.info.name = naive ? "_Z12matmul_naiveifPKfS0_fPf" : "_Z16matmul_coalescedifPKfS0_fPf";
  kernel.info.files = {"", source};
  kernel.info.ptx_file = "k.ptx";
  const auto pc = [&](uint32_t ptx_line, uint32_t line, uint32_t column) {
    const events::Place place{lines ? 1u : 0u, lines ? line : 0, lines ? column : 0};
    kernel.info.pcs.push_back({ptx_line, place, place, ""});
  };
  // block 0: set-up; block 1: the loop (A, B, two more instructions); block 2: C
  pc(20, 2, 3);
  pc(30, 5, 12);
  pc(31, 5, 29);
  pc(32, 5, 9);
  pc(33, 0, 0);  // no line of its own: belongs to line 5
  pc(40, 7, 38);
  pc(41, 7, 21);
  kernel.info.blocks = {{0, 1}, {1, 4}, {5, 2}};
  const std::string p = kernel.info.name + "_param_";
  kernel.info.sites = {{1, Space::kGlobal, Access::kLoad, 4, p + "2"},
                       {2, Space::kGlobal, Access::kLoad, 4, p + "3"},
                       {5, Space::kGlobal, Access::kLoad, 4, p + "5"},
                       {6, Space::kGlobal, Access::kStore, 4, p + "5"}};
  kernel.ptx_text = {{30, "ld.global.f32 %f1, [%rd1];"},
                     {31, "ld.global.f32 %f2, [%rd2];"},
                     {40, "ld.global.f32 %f3, [%rd3];"},
                     {41, "st.global.f32 [%rd3], %f4;"}};
  run.kernels.push_back(kernel);

  const uint64_t warps = n * n / 32, loop = warps * n;
  const auto site = [](uint64_t requests, uint64_t sectors, uint64_t lines_touched) {
    return events::SiteCounts{requests,
                              requests * 32,
                              requests * sectors,
                              requests * lines_touched,
                              requests * std::min<uint64_t>(sectors, 4),
                              0,
                              0};
  };
  auto counts = std::make_shared<events::LaunchCounts>();
  counts->sites = {site(loop, naive ? 32 : 1, naive ? 32 : 1), site(loop, naive ? 1 : 4, 1),
                   site(warps, naive ? 32 : 4, naive ? 32 : 1), site(warps, naive ? 32 : 4, naive ? 32 : 1)};
  counts->blocks = {{warps, warps * 32}, {loop, loop * 32}, {warps, warps * 32}};
  LaunchRecord launch;
  launch.shape.grid = {static_cast<uint32_t>(n / 32), static_cast<uint32_t>(n / 32), 1};
  launch.shape.block = {32, 32, 1};
  launch.param_bytes = 40;
  launch.seconds = 0.031;
  launch.complete = true;
  launch.counts = counts;
  run.launches.push_back(launch);
  return run;
}

/// As if 13 of every 256 blocks had been counted, with a standard error of 1 % for each number of the first site (reads
/// of A) and of the first two basic blocks.
inline RunRecord sampled(RunRecord run) {
  LaunchRecord& launch = run.launches[0];
  auto sample = std::make_shared<events::LaunchSample>();
  sample->choice = {0.05, 7};
  sample->blocks = launch.shape.grid.count();
  sample->counted_blocks = sample->blocks * 13 / 256;
  sample->scaled = true;
  sample->site_errors.resize(launch.counts->sites.size());
  sample->block_errors.resize(launch.counts->blocks.size());
  const events::SiteCounts& c = launch.counts->sites[0];
  const uint64_t numbers[] = {c.requests,      c.lanes,      c.sectors,         c.lines,
                              c.ideal_sectors, c.wavefronts, c.ideal_wavefronts};
  for (size_t i = 0; i < 7; ++i) sample->site_errors[0][i] = static_cast<double>(numbers[i]) / 100;
  for (size_t b = 0; b < 2; ++b)
    sample->block_errors[b] = {static_cast<double>(launch.counts->blocks[b].warps) / 100,
                               static_cast<double>(launch.counts->blocks[b].lanes) / 100};
  launch.sample = std::move(sample);
  return run;
}

}  // namespace warplens::report::example
