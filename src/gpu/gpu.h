// SPDX-License-Identifier: Apache-2.0
// A GPU is a data file: gpus/<name>.toml holds limits, sizes, latencies and throughputs, each with its source. This
// reads one, and checks a launch against it. One file is compiled into the library as the default (CMake variable
// WARPLENS_DEFAULT_GPU), so that the library needs nothing beside it; nothing in the code knows a GPU's name.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warplens::gpu {

struct Gpu {
  // [device]
  std::string name;
  std::array<int, 2> compute_capability = {};
  int sms = 0;
  int sm_clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;
  uint64_t memory_bytes = 0;
  int l2_bytes = 0, l2_persisting_bytes = 0, constant_bytes = 0, async_engines = 0;
  // [limits]
  uint32_t threads_per_block = 0;
  std::array<uint32_t, 3> block_dim = {}, grid_dim = {};
  uint32_t shared_per_block = 0, shared_per_block_optin = 0, shared_per_sm = 0;
  uint32_t shared_reserved_per_block = 0, shared_allocation_unit = 1;
  uint32_t registers_per_block = 0, registers_per_sm = 0, registers_per_thread = 0, register_allocation_unit = 1;
  uint32_t threads_per_sm = 0, blocks_per_sm = 0, barriers_per_block = 0, warp_size = 0, sub_partitions = 1;
  uint32_t cluster_blocks = 0, cluster_blocks_optin = 0, parameter_bytes = 0, local_bytes_per_thread = 0;
  std::vector<uint32_t> shared_carveouts_kib;
  // [memory]: latencies in SM cycles
  double shared_latency = 0, l1_latency = 0, l2_latency = 0, l2_far_latency = 0, dram_latency = 0;
  double constant_latency = 0, atomic_latency = 0, dsmem_latency = 0;
  uint32_t sector_bytes = 0, line_bytes = 0, banks = 0, bank_bytes = 0;
  uint64_t dram_bytes_per_second = 0, l1_and_shared_bytes = 0;
  // [pipes]: results per clock and SM
  uint32_t fp32 = 0, fp64 = 0, int32 = 0, special = 0, load_store = 0;
  double fma_latency = 0;
  // [attributes]
  std::vector<int> attributes;  ///< answers to cudaDeviceGetAttribute, from attribute 1 on
  /// The answer to attribute `number`, or `otherwise` when the file has none.
  int attribute(int number, int otherwise = 0) const {
    return number >= 1 && number <= static_cast<int>(attributes.size()) ? attributes[static_cast<size_t>(number - 1)]
                                                                        : otherwise;
  }
};

/// Reads a GPU file's text. Missing, unknown and ill-typed entries are all reported, with line and column.
Result<Gpu> parse_gpu(std::string_view text, const std::string& file_name);
/// Reads a file from disk.
Result<Gpu> load_gpu(const std::string& path);
/// The file compiled in.
const Gpu& default_gpu();

/// What a launch asks for, and what its kernel was allowed by the program.
struct LaunchShape {
  std::array<uint64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  uint64_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  uint64_t dynamic_shared_allowed = 0;  ///< opt-in by attribute; 0: none
  uint32_t max_threads = 0;             ///< the kernel's own bound (.maxntid); 0: none
};
enum class LaunchFault : uint8_t { kNone, kZero, kBlockTooLarge, kGridTooLarge, kSharedTooLarge, kThreadsOverBound };
LaunchFault check_launch(const Gpu& gpu, const LaunchShape& shape);
/// One sentence: "the block has 2048 threads; the limit of NVIDIA H200 is 1024".
std::string explain(LaunchFault fault, const Gpu& gpu, const LaunchShape& shape);

}  // namespace warplens::gpu
