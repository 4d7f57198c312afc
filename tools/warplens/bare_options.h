// SPDX-License-Identifier: Apache-2.0
// The options of `warplens run k.ptx` that say what to launch: --entry --grid --block --cluster --shared --arg --out
// --expect --rtol --atol. They may stand before or behind the file, since no program is there to take them.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "events/events.h"
#include "session/comparison.h"

namespace warplens::cli {

/// "[INDEX:]FILE" of --out and --expect.
struct ArrayFile {
  std::string text;  ///< as typed
  std::string path;
  size_t argument = 0;  ///< from 1; 0: the next out: argument
};

struct BareOptions {
  std::string entry;
  std::optional<events::Dim3> grid, block, cluster;
  uint32_t shared_bytes = 0;
  std::vector<std::string> arguments;
  std::vector<ArrayFile> outputs, expected;
  session::Tolerance tolerance;
  std::vector<std::string> words;  ///< the options that were given, to complain about them when X is no PTX
};

using ApplyBare = std::function<Status(BareOptions&, const std::string&)>;
/// All take a value.
const std::map<std::string_view, ApplyBare>& bare_options();

}  // namespace warplens::cli
