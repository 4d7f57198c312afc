// SPDX-License-Identifier: Apache-2.0
// A GPU is a data file: gpus/<name>.toml holds limits, sizes, latencies and throughputs, each with its source. This
// reads one, and checks a launch against it. All files of that folder are compiled into the library, so that it needs
// nothing beside it (the default among them: CMake variable WARPLENS_DEFAULT_GPU); nothing in the code knows a GPU's
// name. An entry for which no source is known is left out of a file; such members are optional here.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
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
  int l2_bytes = 0, constant_bytes = 0;
  std::optional<int> l2_persisting_bytes, async_engines;
  // [limits]
  uint32_t threads_per_block = 0;
  std::array<uint32_t, 3> block_dim = {}, grid_dim = {};
  uint32_t shared_per_block = 0, shared_per_block_optin = 0, shared_per_sm = 0;
  uint32_t shared_reserved_per_block = 0, shared_allocation_unit = 1;
  uint32_t registers_per_block = 0, registers_per_sm = 0, registers_per_thread = 0, register_allocation_unit = 1;
  std::optional<uint32_t> least_registers_per_thread;  ///< a launch takes so many whatever the kernel needs
  uint32_t threads_per_sm = 0, blocks_per_sm = 0, barriers_per_block = 0, warp_size = 0, sub_partitions = 1;
  std::optional<uint32_t> barriers_per_sm;  ///< absent: barriers do not limit how many blocks an SM holds
  uint32_t cluster_blocks = 0;              ///< portable; 1: no clusters
  std::optional<uint32_t> cluster_blocks_optin;
  uint32_t parameter_bytes = 0, local_bytes_per_thread = 0;
  /// Blocks in a cluster when the program asked for more than the portable size.
  uint32_t largest_cluster() const { return cluster_blocks_optin.value_or(cluster_blocks); }
  std::vector<uint32_t> shared_carveouts_kib;  ///< ascending
  std::optional<uint32_t> spare_carveout_kib;  ///< up to here the driver sets aside more than a kernel needs
  /// SMs of each group that a cluster may not leave, and the most blocks of clusters that an SM holds; empty: unknown.
  std::vector<uint32_t> cluster_groups;
  std::optional<uint32_t> cluster_blocks_per_sm;
  // [memory]: latencies in SM cycles
  std::optional<double> shared_latency, l1_latency, l2_latency, l2_far_latency, dram_latency;
  std::optional<double> constant_latency, atomic_latency, dsmem_latency;
  uint32_t sector_bytes = 0, line_bytes = 0, banks = 0, bank_bytes = 0;
  uint64_t dram_bytes_per_second = 0, l1_and_shared_bytes = 0;
  // [pipes]: results per clock and SM
  std::optional<uint32_t> fp32, fp64, int32, special, load_store;
  std::optional<double> fma_latency;
  // [attributes]
  std::vector<int> attributes;  ///< answers to cudaDeviceGetAttribute, from attribute 1 on; may be empty
  /// The answer to attribute `number` of cudaDeviceGetAttribute: from the list above, else from the entries of this
  /// file, else what every GPU of compute capability 7.0 and later answers; nothing when none of them knows.
  std::optional<int> known_attribute(int number) const;
  int attribute(int number, int otherwise = 0) const { return known_attribute(number).value_or(otherwise); }
};

/// Reads a GPU file's text. Missing, unknown, ill-typed and absurd entries are all reported, with line and column.
Result<Gpu> parse_gpu(std::string_view text, const std::string& file_name);
/// Reads a file from disk.
Result<Gpu> load_gpu(const std::string& path);
/// The default among the files compiled in.
const Gpu& default_gpu();

/// What a launch asks for, and what its kernel was allowed by the program.
struct LaunchShape {
  std::array<uint64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  uint64_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  uint64_t dynamic_shared_allowed = 0;  ///< opt-in by attribute; 0: none
  uint32_t max_threads = 0;             ///< the kernel's own bound (.maxntid); 0: none
  std::array<uint64_t, 3> cluster = {1, 1, 1};
  bool any_cluster_size = false;  ///< opt-in to more than the portable size
};
enum class LaunchFault : uint8_t {
  kNone,
  kZero,
  kBlockTooLarge,
  kGridTooLarge,
  kSharedTooLarge,
  kThreadsOverBound,
  kClusterTooLarge,
  kClusterDoesNotDivide,
};
LaunchFault check_launch(const Gpu& gpu, const LaunchShape& shape);
/// One sentence: "the block has 2048 threads; the limit of NVIDIA H200 is 1024".
std::string explain(LaunchFault fault, const Gpu& gpu, const LaunchShape& shape);

}  // namespace warplens::gpu
