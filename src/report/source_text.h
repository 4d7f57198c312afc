// SPDX-License-Identifier: Apache-2.0
// Lines of the user's source, for the report to show beside its numbers. Files are read once; a file that is gone or
// was changed to something that is not text simply has no lines.
#pragma once
#include <set>
#include <string>
#include <string_view>

namespace warplens::report {

/// The whole text of `path`, empty when it cannot be read. Kept for the life of the process.
std::string_view source_file(const std::string& path);
/// Line `line` (from 1) without indentation, tabs as blanks and control characters removed; empty when there is none.
std::string source_line(const std::string& path, uint32_t line);
/// 16 hexadecimal digits that name the texts of `files` without blanks and comments at ends of lines, so that files
/// whose lines only moved as a whole keep it; empty when there are none or one cannot be read.
std::string source_hash(const std::set<std::string>& files);
/// The last part of a path.
std::string file_name(const std::string& path);

}  // namespace warplens::report
