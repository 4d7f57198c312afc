// SPDX-License-Identifier: Apache-2.0
// The tool's own exit codes. Everything else is the program's: its exit code, or 128 + n when signal n ended it.
#pragma once

namespace warplens::cli {

constexpr int kMisuse = 2;       ///< wrong options, or an input that cannot be run; nothing was started
constexpr int kCannotWrite = 3;  ///< a result could not be written
constexpr int kTimedOut = 124;   ///< --timeout ended the program
constexpr int kSignalBase = 128;

}  // namespace warplens::cli
