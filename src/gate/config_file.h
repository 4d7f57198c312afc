// SPDX-License-Identifier: Apache-2.0
// .warplens.toml: what a project asks of its kernels, kept beside its sources. It is looked for in the folder of what
// is run and in those above it, then from the current folder upwards; options on the command line override it.
//
//   gpu = "h200"                    # what --gpu gives
//   timeout = 60
//   baseline = "base.json"          # relative to this file, as are other paths
//   allow_growth = "5%"
//   allow_estimates = false         # for all limits
//   [[limit]]
//   kernel = "matmul.*"             # without it: every kernel
//   excessive_sectors = 0
//   max_sectors_per_request = 5
//   min_occupancy = 0.5
//   max = { launch__registers_per_thread = 64 }
//
// docs/limits.md describes it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gate/difference.h"
#include "gate/limits.h"

namespace warplens::gate {

constexpr const char* kConfigName = ".warplens.toml";

struct Config {
  std::string file;  ///< that it was read from; empty: none
  std::string gpu;   ///< empty: not said, as below
  std::optional<double> timeout_seconds;
  std::string baseline;  ///< a report to compare with
  std::optional<Growth> growth;
  std::vector<Limit> limits;
};

/// The nearest file of that name in `folder` or above it; empty: there is none.
std::string find_config(const std::string& folder);
/// All faults are reported at once, with places.
Result<Config> parse_config(std::string_view text, const std::string& file);
Result<Config> read_config(const std::string& path);
/// A limit of the command line takes the place of the bounds of that name, or is one more, for every kernel.
void override_limit(Config& config, const Limit& limit);
/// The same as a file that could be read again.
std::string config_text(const Config& config);

}  // namespace warplens::gate
