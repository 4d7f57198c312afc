// SPDX-License-Identifier: Apache-2.0
// What .warplens.toml (src/gate/config_file.h) adds to the command line of `warplens run`; what was typed wins.
#pragma once
#include "base/result.h"
#include "warplens/run_options.h"

namespace warplens::cli {

/// Finds and reads the file, unless --no-config, and completes `options`, whose inputs must be there.
Status apply_config(RunOptions& options);

}  // namespace warplens::cli
