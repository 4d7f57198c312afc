// SPDX-License-Identifier: Apache-2.0
// Paths as reports name them: relative to a folder that they lie in, so that a report of one machine is read on
// another.
#pragma once
#include <string>

namespace warplens::report {

/// `path` relative to `folder`, both absolute or both relative, without "." and ".."; empty when it does not lie below
/// it (or is the folder itself). Links are followed when the names alone do not tell.
std::string path_below(const std::string& path, const std::string& folder);
/// The same where it can be, else `path`. `root` empty: `path`.
std::string path_from_root(const std::string& path, const std::string& root);

}  // namespace warplens::report
