// SPDX-License-Identifier: Apache-2.0
// Occupancy against the calculation that a CUDA toolkit ships as a header, where one is installed: plain C++, needs no
// GPU. Its licence keeps it out of this project; without a toolkit the test is skipped.
#include <gtest/gtest.h>

#include "gpu/catalogue.h"
#include "gpu/occupancy.h"

#ifdef WARPLENS_CUDA_OCCUPANCY_HEADER
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include WARPLENS_CUDA_OCCUPANCY_HEADER
#pragma GCC diagnostic pop
#endif

namespace warplens::gpu {
namespace {

#ifdef WARPLENS_CUDA_OCCUPANCY_HEADER

cudaOccDeviceProp device_of(const Gpu& g) {
  cudaOccDeviceProp p;
  p.computeMajor = g.compute_capability[0];
  p.computeMinor = g.compute_capability[1];
  p.maxThreadsPerBlock = static_cast<int>(g.threads_per_block);
  p.maxThreadsPerMultiprocessor = static_cast<int>(g.threads_per_sm);
  p.regsPerBlock = static_cast<int>(g.registers_per_block);
  p.regsPerMultiprocessor = static_cast<int>(g.registers_per_sm);
  p.warpSize = static_cast<int>(g.warp_size);
  p.sharedMemPerBlock = g.shared_per_block;
  p.sharedMemPerMultiprocessor = g.shared_per_sm;
  p.sharedMemPerBlockOptin = g.shared_per_block_optin;
  p.reservedSharedMemPerBlock = g.shared_reserved_per_block;
  p.numSms = g.sms;
  return p;
}

uint32_t limit_of(int limit) { return limit == INT_MAX ? kNoLimit : static_cast<uint32_t>(limit); }

struct Theirs {
  cudaOccError error;
  cudaOccResult result;
};

Theirs theirs(const cudaOccDeviceProp& device, const OccupancyInput& in) {
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = 1024;
  kernel.numRegs = static_cast<int>(in.registers);
  kernel.sharedSizeBytes = in.shared_bytes;
  kernel.maxDynamicSharedSizeBytes = 0;
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.numBlockBarriers = static_cast<int>(in.barriers);
  cudaOccDeviceState state;
  Theirs t = {};
  t.error =
      cudaOccMaxActiveBlocksPerMultiprocessor(&t.result, &device, &kernel, &state, static_cast<int>(in.threads), 0);
  return t;
}

TEST(OccupancyHeader, agrees_for_every_gpu) {
  uint64_t compared = 0;
  for (const KnownGpu& known : known_gpus()) {
    const Gpu& g = *known.gpu;
    const cudaOccDeviceProp device = device_of(g);
    for (const uint32_t threads :
         {1u, 32u, 33u, 64u, 96u, 128u, 160u, 224u, 256u, 384u, 512u, 640u, 768u, 1000u, 1024u})
      for (uint32_t registers = g.least_registers_per_thread.value_or(8); registers <= 255; registers += 3)
        for (const uint64_t shared : {0u, 1u, 100u, 1024u, 4096u, 5000u, 16384u, 20000u, 33000u, 48u * 1024})
          for (const uint32_t barriers : {1u, 2u, 5u, 16u}) {
            const OccupancyInput in = {threads, registers, shared, g.shared_carveouts_kib.back(), barriers};
            const Theirs t = theirs(device, in);
            ASSERT_EQ(t.error, CUDA_OCC_SUCCESS);
            const Occupancy o = occupancy(g, in);
            const std::string what = known.id + ": " + std::to_string(threads) + " threads, " +
                                     std::to_string(registers) + " registers, " + std::to_string(shared) + " bytes, " +
                                     std::to_string(barriers) + " barriers";
            ASSERT_EQ(o.blocks_per_sm, limit_of(t.result.activeBlocksPerMultiprocessor)) << what;
            ASSERT_EQ(o.by_registers, limit_of(t.result.blockLimitRegs)) << what;
            ASSERT_EQ(o.by_warps, limit_of(t.result.blockLimitWarps)) << what;
            ASSERT_EQ(o.by_blocks, limit_of(t.result.blockLimitBlocks)) << what;
            ASSERT_EQ(o.by_shared, limit_of(t.result.blockLimitSharedMem)) << what;
            ASSERT_EQ(o.by_barriers, limit_of(t.result.blockLimitBarriers)) << what;
            ++compared;
          }
  }
  EXPECT_GT(compared, 100000u);
}

#else

TEST(OccupancyHeader, agrees_for_every_gpu) { GTEST_SKIP() << "no CUDA toolkit was found when this was built"; }

#endif

}  // namespace
}  // namespace warplens::gpu
