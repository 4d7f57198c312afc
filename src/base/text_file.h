// SPDX-License-Identifier: Apache-2.0
// A whole file into memory: a source, a report, a configuration, a program.
#pragma once
#include <string>

#include "base/result.h"

namespace warplens {

/// The bytes of the file (or pipe). A diagnostic with the system's reason where it cannot be read; a folder cannot.
/// `what` stands before the path in it: "cannot read the GPU file x.toml: No such file or directory".
Result<std::string> read_file(const std::string& path, const std::string& what = {});

}  // namespace warplens
