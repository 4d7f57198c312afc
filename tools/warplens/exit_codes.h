// SPDX-License-Identifier: Apache-2.0
// The tool's own exit codes. Everything else is the program's: its exit code, or 128 + n when signal n ended it.
#pragma once

namespace warplens::cli {

constexpr int kBroken = 1;  ///< the program ended well, but broke a limit, or had a finding while limits are set
constexpr int kMisuse = 2;  ///< wrong options, or an input that cannot be run; also a limit that nothing was checked by
constexpr int kCannotWrite = 3;  ///< a result could not be written
constexpr int kTimedOut = 124;   ///< --timeout ended the program
constexpr int kSignalBase = 128;

}  // namespace warplens::cli
