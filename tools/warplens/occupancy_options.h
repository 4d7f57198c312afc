// SPDX-License-Identifier: Apache-2.0
// The command line of `warplens occupancy [options] [FILE]`.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "warplens/gpu_option.h"

namespace warplens::cli {

struct OccupancyOptions {
  GpuChoice gpu;
  std::optional<uint32_t> threads, registers, carveout_kib, barriers;
  std::optional<uint64_t> shared_bytes;  ///< in all; with FILE: dynamic, on top of the kernel's own
  std::string file, entry;
  std::string json;  ///< file, "-" or empty
  bool curves = true, help = false;
};

/// `arguments`: what follows "occupancy". All faults are reported at once.
Result<OccupancyOptions> parse_occupancy_options(const std::vector<std::string>& arguments);

}  // namespace warplens::cli
